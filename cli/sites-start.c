/* SPDX-License-Identifier: BSD-3-Clause */
/* Start callmark-sites and wait for it. */
#include "cli/sites-start.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/environ.h"
#include "preload/environment.h"

#define MAX_SECONDS 600 /* hundreds of megabytes of code take some; a hang does not end */
#define MAX_OPTIONS 12

/* exec does not write to its arguments. */
static char *argument(const char *text)
{
	return (char *)(uintptr_t)text;
}

static size_t add_option(char **argv, size_t n, const char *option, const char *value)
{
	if (!value)
		return n;
	argv[n] = argument(option);
	argv[n + 1] = argument(value);
	return n + 2;
}

/* Its first line without its name, and how many there are. */
static int say_first(char *text, struct cm_diag *diag)
{
	static const char *const names[] = {CM_SITES_NAME ": ", "callmark: "};
	size_t n_more = 0;

	for (char *next = strchr(text, '\n'); next && next[1]; next = strchr(next + 1, '\n'))
		n_more++;
	text[strcspn(text, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			text += strlen(names[i]);
	if (!*text)
		text = argument(CM_SITES_NAME " failed and does not say why");
	if (n_more)
		(void)cm_diag_set(diag, -EIO, "%s (and %zu more)", text, n_more);
	else
		(void)cm_diag_set(diag, -EIO, "%s", text);
	return 1;
}

static int judge(const struct cm_sites_request *request, int rc, struct cm_command_output *output,
		 struct cm_diag *diag)
{
	int status;

	if (rc == -EINTR)
		return rc;
	if (rc == -ETIMEDOUT)
		return cm_diag_set(diag, rc, "%s: did not end within %d s", request->path,
				   MAX_SECONDS);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", request->path, strerror(-rc));
	status = cm_supervise_exit_status(output->status);
	if (status > 128)
		return cm_diag_set(diag, -EIO, "%s: %s", request->path, strsignal(status - 128));
	return status ? say_first(output->text, diag) : 0;
}

int cm_sites_start(const struct cm_supervise *supervise, const struct cm_sites_request *request,
		   const char *const *objects, size_t n_objects, struct cm_diag *diag)
{
	char **argv = calloc(n_objects + MAX_OPTIONS + 1, sizeof(argv[0]));
	struct cm_command command = {.path = request->path,
				     .argv = argv,
				     .n_seconds = MAX_SECONDS,
				     .progress = request->progress};
	struct cm_command_output output = {0};
	struct cm_environ env;
	size_t n = 0;
	int rc;

	if (!argv)
		return -ENOMEM;
	argv[n++] = argument(CM_SITES_NAME);
	n = add_option(argv, n, "--config", request->config);
	n = add_option(argv, n, "--symbols", request->symbols);
	n = add_option(argv, n, "--output", request->output);
	n = add_option(argv, n, "--cache", request->folders[0]);
	n = add_option(argv, n, "--cache", request->folders[1]);
	argv[n++] = argument("--");
	for (size_t i = 0; i < n_objects; i++)
		argv[n++] = argument(objects[i]);
	rc = cm_environ_init(&env);
	cm_environ_remove(&env, "LD_PRELOAD=");
	cm_environ_remove(&env, "LD_AUDIT=");
	command.envp = env.vars;
	if (!rc)
		rc = judge(request, cm_command_run(&output, supervise, &command), &output, diag);
	cm_command_output_free(&output);
	cm_environ_fini(&env);
	free(argv);
	return rc;
}

/* As the preload (preload/entries.c): neither the loader nor what works for us. */
static bool is_left_alone(const char *name)
{
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "liblikwid", 9) ||
	       !strcmp(name, CM_PRELOAD_NAME);
}

bool cm_sites_is_wanted(const struct cm_rules *rules, const char *name)
{
	for (uint32_t i = 0; i < rules->n_rules; i++) {
		const struct cm_rule *rule = &rules->rules[i];

		/*
		 * What stands before ':' may also be a source file's name, which any object can
		 * have been made from; not where it says ".so".
		 */
		if (rule->internal && (!rule->library || !strstr(rule->library, ".so") ||
				       cm_rules_glob(rule->library, name)))
			return !is_left_alone(name);
	}
	return false;
}

int cm_sites_choose(const struct cm_closure *closure, const struct cm_rules *rules,
		    const char ***ret_paths, size_t *ret_n)
{
	const char **paths = calloc(closure->n_items + 1, sizeof(paths[0]));
	size_t n = 0;

	if (!paths)
		return -ENOMEM;
	for (size_t i = 0; i < closure->n_items; i++) {
		const struct cm_closure_item *item = &closure->items[i];

		if (item->elf && cm_elf_kind(item->elf) != CM_ELF_FOREIGN &&
		    cm_sites_is_wanted(rules, item->name))
			paths[n++] = item->path;
	}
	*ret_paths = paths;
	*ret_n = n;
	return 0;
}
