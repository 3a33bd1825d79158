/* SPDX-License-Identifier: BSD-3-Clause */
/* Start likwid-perfctr, take the environment that it makes. */
#include "cli/perfctr.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/environ.h"

#define MAX_VARS_BYTES (16u << 20) /* more than the kernel lets through exec */

void cm_perfctr_look_around(const char **ret_set, const char **ret_missing)
{
	static const char *const names[] = {"LIKWID_MODE", "LIKWID_EVENTS", "LIKWID_THREADS",
					    "LIKWID_FILEPATH"};

	*ret_set = NULL;
	*ret_missing = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		*(getenv(names[i]) ? ret_set : ret_missing) = names[i];
}

int cm_perfctr_find(struct cm_program *tool, struct cm_diag *diag)
{
	const char *home = getenv("LIKWID_HOME");
	struct cm_diag ignored = {0};
	char path[PATH_MAX];
	int rc = cm_program_find(tool, CM_PERFCTR_NAME, &ignored);

	if (rc < 0 && home && home[0] &&
	    snprintf(path, sizeof(path), "%s/bin/" CM_PERFCTR_NAME, home) < (int)sizeof(path))
		rc = cm_program_find(tool, path, &ignored);
	return cm_diag_set(rc < 0 ? diag : NULL, rc,
			   CM_PERFCTR_NAME " is neither in PATH nor in $LIKWID_HOME/bin: install "
					   "LIKWID, or load its module");
}

static char *read_vars(int fd, size_t *ret_n_bytes)
{
	struct stat st;
	ssize_t n = -1;
	char *vars;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > MAX_VARS_BYTES)
		return NULL;
	vars = malloc((size_t)st.st_size);
	if (vars)
		n = pread(fd, vars, (size_t)st.st_size, 0);
	if (n != st.st_size) {
		free(vars);
		return NULL;
	}
	*ret_n_bytes = (size_t)n;
	return vars;
}

/* What `capture` wrote: strings, an empty one, the CPUs. */
static int take(struct cm_perfctr *perfctr, int fd)
{
	size_t n_bytes = 0, at = 0;
	char *vars = read_vars(fd, &n_bytes);

	if (!vars)
		return -ENODATA;
	while (at < n_bytes && vars[at]) {
		const char *end = memchr(vars + at, '\0', n_bytes - at);

		at = end ? (size_t)(end - vars) + 1 : n_bytes;
	}
	if (at >= n_bytes || n_bytes - at - 1 != sizeof(perfctr->cpus)) {
		free(vars);
		return -ENODATA;
	}
	memcpy(&perfctr->cpus, vars + at + 1, sizeof(perfctr->cpus));
	perfctr->vars = vars;
	return 0;
}

/* exec does not write to its arguments. */
static char *argument(const char *text)
{
	return (char *)(uintptr_t)text;
}

/* The last two are the program. self has no blank in it: likwid-perfctr splits there. */
static char **make_arguments(const struct cm_perfctr_request *request, const char *self)
{
	char **argv = calloc(2 * request->n_groups + 7, sizeof(argv[0]));
	size_t n = 0;

	if (!argv)
		return NULL;
	argv[n++] = argument(CM_PERFCTR_NAME);
	argv[n++] = argument("-m");
	for (size_t i = 0; i < request->n_groups; i++) {
		argv[n++] = argument("-g");
		argv[n++] = argument(request->groups[i]);
	}
	argv[n++] = argument(request->pin ? "-C" : "-c");
	argv[n++] = argument(request->cpus);
	argv[n++] = argument(self);
	argv[n++] = argument(CM_CAPTURE_NAME);
	return argv;
}

static int make_environment(struct cm_environ *env, int fd)
{
	char text[16];

	(void)cm_environ_init(env); /* the error sticks */
	cm_environ_remove(env, "LD_PRELOAD=");
	cm_environ_remove(env, "LD_AUDIT=");
	snprintf(text, sizeof(text), "%d", fd);
	return cm_environ_set(env, CM_ENV_CAPTURE, text);
}

/* -ENODATA: it ended without the environment. */
static int run(struct cm_perfctr *perfctr, const struct cm_supervise *supervise,
	       const struct cm_command *command, int fd, struct cm_command_output *output)
{
	int rc = cm_command_run(output, supervise, command);

	if (!rc)
		rc = output->status ? -ENODATA : take(perfctr, fd);
	return rc;
}

int cm_perfctr_ask(struct cm_perfctr *perfctr, const struct cm_supervise *supervise,
		   const struct cm_perfctr_request *request, struct cm_diag *diag)
{
	int fd = memfd_create("environment", 0); /* inherited through likwid-perfctr */
	struct cm_command command = {.path = request->path, .n_seconds = CM_PERFCTR_SECONDS};
	struct cm_command_output output = {0};
	struct cm_environ env;
	char self[32];
	char **argv;
	int rc;

	memset(perfctr, 0, sizeof(*perfctr));
	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	argv = make_arguments(request, self);
	rc = fd < 0 ? -errno : make_environment(&env, fd);
	if (!argv)
		rc = -ENOMEM;
	command.argv = argv;
	command.envp = fd < 0 ? NULL : env.vars;
	if (!rc)
		rc = run(perfctr, supervise, &command, fd, &output);
	if (rc == -ENODATA)
		rc = cm_perfctr_explain(output.text, output.status, request, diag);
	else if (rc == -ETIMEDOUT)
		(void)cm_diag_set(diag, rc, "%s did not end within %d s", request->path,
				  CM_PERFCTR_SECONDS);
	else if (rc < 0)
		(void)cm_diag_set(diag, rc, "%s: %s", request->path, strerror(-rc));
	cm_command_output_free(&output);
	free(argv);
	if (fd >= 0) {
		cm_environ_fini(&env);
		close(fd);
	}
	return rc;
}

void cm_perfctr_free(struct cm_perfctr *perfctr)
{
	free(perfctr->vars);
	perfctr->vars = NULL;
}
