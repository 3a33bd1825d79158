/* SPDX-License-Identifier: BSD-3-Clause */
/* Start the collector. */
#include "cli/collect-start.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/environ.h"
#include "preload/environment.h"

/* No process of ours may look like a rank, or be profiled. */
static const char *const removed[] = {"LD_PRELOAD=", "LD_AUDIT=", "OMPI_", "PMIX_", "PMI_",
				      "PRTE_",	     "MV2_",	  "MPI_",  "HYDRA_"};

/* exec does not write to its arguments. */
static char *argument(const char *text)
{
	return (char *)(uintptr_t)text;
}

static int start_and_wait(const struct cm_supervise *supervise, const struct cm_start *start)
{
	int status;
	pid_t pid;
	int rc = cm_supervise_start(supervise, start, &pid);

	if (!rc)
		rc = cm_supervise_wait(pid, &status);
	return rc < 0 ? rc : cm_supervise_exit_status(status);
}

int cm_collect_start(const struct cm_supervise *supervise, const char *path,
		     const char *const *options, const char *const *folders, size_t n_folders,
		     bool new_session)
{
	char **argv = calloc(n_folders + CM_COLLECT_MAX_OPTIONS + 4, sizeof(argv[0]));
	struct cm_start start = {
		.path = path, .argv = argv, .new_session = new_session, .no_stdio = true};
	struct cm_environ env;
	size_t n = 0;
	int rc;

	if (!argv)
		return -ENOMEM;
	argv[n++] = argument(CM_COLLECT_NAME);
	if (isatty(STDERR_FILENO))
		argv[n++] = argument("--progress");
	for (size_t i = 0; i < CM_COLLECT_MAX_OPTIONS && options[i]; i++)
		argv[n++] = argument(options[i]);
	argv[n++] = argument("--");
	for (size_t i = 0; i < n_folders; i++)
		argv[n++] = argument(folders[i]);
	rc = cm_environ_init(&env);
	for (size_t i = 0; !rc && i < sizeof(removed) / sizeof(removed[0]); i++)
		cm_environ_remove(&env, removed[i]);
	start.envp = env.vars;
	if (!rc)
		rc = start_and_wait(supervise, &start);
	cm_environ_fini(&env);
	free(argv);
	return rc;
}
