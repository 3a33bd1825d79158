/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running another program to its end so that the profiled one cannot notice.
 *
 * A child with SIGCHLD as its exit signal would run the program's handler, or be taken by its
 * waitpid(-1), or vanish under SIG_IGN. So an intermediate process without exit signal starts it as
 * its own child and waits; we wait for the intermediate with __WALL. It must not exec: exec gives a
 * process SIGCHLD as its exit signal again. Both share our memory until they exec or end (as vfork
 * does), so that a large process need not be copied; each has its own stack.
 */
#ifndef CALLMARK_PRELOAD_SPAWN_H
#define CALLMARK_PRELOAD_SPAWN_H

#include <stdbool.h>

struct cm_spawn {
	const char *path;
	char *const *argv;
	char *const *envp;
	int output;	     /* descriptor that becomes its stdout; -1: /dev/null */
	bool keep_stderr;    /* else /dev/null */
	unsigned int max_ms; /* then its session is killed; 0: no limit */
};

/*
 * Start it in a session of its own, with default SIGPIPE, an empty signal mask and no other
 * descriptors, and wait. Its exit status; -ECHILD: a signal ended it; -ETIMEDOUT; or why it could
 * not be started. Signals blocked.
 */
int cm_spawn_run(const struct cm_spawn *spawn);

#endif
