/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. Nothing is written where nothing has changed. */
#include "collector/measure-caller.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int save_environment(struct cm_caller *caller)
{
	size_t n = 0;

	while (environ && environ[n])
		n++;
	caller->variables = cm_arena_array(&caller->arena, n, sizeof(*caller->variables));
	if (!caller->variables)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		caller->variables[i] =
			cm_arena_copy(&caller->arena, environ[i], strlen(environ[i]));
		if (!caller->variables[i])
			return -ENOMEM;
	}
	caller->n_variables = n;
	return 0;
}

int cm_caller_save(struct cm_caller *caller)
{
	int rc;

	memset(caller, 0, sizeof(*caller));
	if (sigaction(SIGCHLD, NULL, &caller->on_child) < 0)
		return -errno;
	rc = cm_affinity_get(&caller->affinity);
	return rc < 0 ? rc : save_environment(caller);
}

void cm_caller_fini(struct cm_caller *caller)
{
	cm_affinity_fini(&caller->affinity);
	cm_arena_fini(&caller->arena);
}

static bool has_name(const char *variable, const char *name, size_t n)
{
	return !strncmp(variable, name, n) && (variable[n] == '=' || !variable[n]);
}

/* The variable of this name as it was, or NULL. */
static const char *find_saved(const struct cm_caller *caller, const char *name, size_t n)
{
	for (size_t i = 0; i < caller->n_variables; i++) {
		if (has_name(caller->variables[i], name, n))
			return caller->variables[i];
	}
	return NULL;
}

/* The first one that was not there before goes. 1: there was one; 0: none; -ENOMEM. */
static int remove_one(const struct cm_caller *caller)
{
	for (char **variable = environ; variable && *variable; variable++) {
		size_t n = strcspn(*variable, "=");
		char *name;
		int rc;

		if (!n || !(*variable)[n] || find_saved(caller, *variable, n) ||
		    (caller->kept && has_name(*variable, caller->kept, strlen(caller->kept))))
			continue;
		name = strndup(*variable, n);
		rc = name && unsetenv(name) == 0 ? 1 : -ENOMEM;
		free(name);
		return rc;
	}
	return 0;
}

static int restore_value(const char *variable)
{
	size_t n = strcspn(variable, "=");
	char *name = n && variable[n] ? strndup(variable, n) : NULL;
	const char *now = name ? getenv(name) : NULL;
	int rc = 0;

	if (name && (!now || strcmp(now, variable + n + 1) != 0))
		rc = setenv(name, variable + n + 1, 1) < 0 ? -errno : 0;
	free(name);
	return rc;
}

/* A name that is there twice has its first value with getenv(), and is left alone. */
static int restore_environment(const struct cm_caller *caller)
{
	int rc;

	do {
		rc = remove_one(caller);
	} while (rc > 0);
	for (size_t i = 0; rc == 0 && i < caller->n_variables; i++) {
		const char *variable = caller->variables[i];
		size_t n = strcspn(variable, "=");

		if (find_saved(caller, variable, n) == variable)
			rc = restore_value(variable);
	}
	return rc;
}

static void restore_on_child(const struct sigaction *saved)
{
	struct sigaction now;

	if (sigaction(SIGCHLD, NULL, &now) == 0 &&
	    (now.sa_sigaction != saved->sa_sigaction || now.sa_flags != saved->sa_flags ||
	     memcmp(&now.sa_mask, &saved->sa_mask, sizeof(now.sa_mask)) != 0))
		(void)sigaction(SIGCHLD, saved, NULL); /* it was valid */
}

int cm_caller_restore(const struct cm_caller *caller, struct cm_diag *diag)
{
	int rc = cm_affinity_restore(&caller->affinity), environment_rc;

	restore_on_child(&caller->on_child);
	environment_rc = restore_environment(caller);
	if (rc < 0)
		return cm_diag_set(diag, -EIO, "the affinity could not be put back: %s",
				   strerror(-rc));
	if (environment_rc < 0)
		return cm_diag_set(diag, environment_rc,
				   "the environment could not be put back: %s",
				   strerror(-environment_rc));
	return 0;
}
