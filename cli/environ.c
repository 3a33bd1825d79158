/* SPDX-License-Identifier: BSD-3-Clause */
/* A changeable copy of the environment. */
#include "cli/environ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int append(struct cm_environ *env, char *text)
{
	if (!text || env->error)
		goto fail;
	if (env->n_vars + 1 >= env->n_room) {
		size_t n_room = 2 * env->n_room + 64;
		char **vars = reallocarray(env->vars, n_room, sizeof(vars[0]));

		if (!vars)
			goto fail;
		env->vars = vars;
		env->n_room = n_room;
	}
	env->vars[env->n_vars++] = text;
	env->vars[env->n_vars] = NULL;
	return 0;
fail:
	free(text);
	env->error = -ENOMEM;
	return env->error;
}

int cm_environ_init(struct cm_environ *env)
{
	memset(env, 0, sizeof(*env));
	for (char **var = environ; *var; var++)
		if (append(env, strdup(*var)))
			break;
	return env->error;
}

void cm_environ_fini(struct cm_environ *env)
{
	for (size_t i = 0; i < env->n_vars; i++)
		free(env->vars[i]);
	free(env->vars);
	memset(env, 0, sizeof(*env));
}

char *cm_environ_get(const struct cm_environ *env, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < env->n_vars; i++)
		if (!strncmp(env->vars[i], name, n) && env->vars[i][n] == '=')
			return env->vars[i] + n + 1;
	return NULL;
}

int cm_environ_set(struct cm_environ *env, const char *name, const char *value)
{
	size_t n = strlen(name);
	char *text;

	if (!value || env->error)
		return env->error;
	if (asprintf(&text, "%s=%s", name, value) < 0)
		return env->error = -ENOMEM;
	for (size_t i = 0; i < env->n_vars; i++) {
		if (strncmp(env->vars[i], text, n + 1))
			continue;
		free(env->vars[i]);
		env->vars[i] = text;
		return 0;
	}
	return append(env, text);
}

void cm_environ_remove(struct cm_environ *env, const char *prefix)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < env->n_vars; i++) {
		if (!strncmp(env->vars[i], prefix, strlen(prefix)))
			free(env->vars[i]);
		else
			env->vars[n_kept++] = env->vars[i];
	}
	env->n_vars = n_kept;
	if (env->vars)
		env->vars[n_kept] = NULL;
}
