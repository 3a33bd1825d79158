/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An environment to hand to another program: a copy of ours that can be changed.
 *
 *	cm_environ_init(&env);
 *	cm_environ_set(&env, "NAME", "value");
 *	execve(path, argv, env.vars);
 *	cm_environ_fini(&env);
 *
 * Threads: one at a time. Errors: -ENOMEM; the first one sticks, later calls repeat it.
 */
#ifndef CALLMARK_CLI_ENVIRON_H
#define CALLMARK_CLI_ENVIRON_H

#include <stddef.h>

struct cm_environ {
	char **vars; /* NULL-terminated, valid until the next call */
	size_t n_vars;
	size_t n_room;
	int error;
};

int cm_environ_init(struct cm_environ *env);
void cm_environ_fini(struct cm_environ *env);

/* The value, owned by env, or NULL. */
char *cm_environ_get(const struct cm_environ *env, const char *name);

/* value is copied; NULL leaves everything as it is. */
int cm_environ_set(struct cm_environ *env, const char *name, const char *value);

/* Remove every variable whose name begins with prefix. */
void cm_environ_remove(struct cm_environ *env, const char *prefix);

#endif
