/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LIKWID may change in the process that calls it, and must not: the calling thread's
 * affinity, the disposition of SIGCHLD, the environment (hwloc sets a variable of its own).
 *
 *	rc = cm_caller_save(&caller);
 *	... LIKWID ...
 *	rc = cm_caller_restore(&caller, &diag);      as often as needed
 *	cm_caller_fini(&caller);
 *
 * Threads: one at a time; as for any change of the environment, no other may read it meanwhile
 * (LIKWID's own changes have the same need). Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_CALLER_H
#define CALLMARK_COLLECTOR_MEASURE_CALLER_H

#include <signal.h>
#include <stddef.h>

#include "collector/arena.h"
#include "collector/measure-affinity.h"
#include "preload/diag.h"

struct cm_caller {
	struct cm_affinity affinity;
	struct sigaction on_child;
	const char **variables; /* [n_variables] copies, in the arena */
	size_t n_variables;
	const char *kept; /* name of a variable that is left as it is; NULL: none */
	struct cm_arena arena;
};

/* Needs fini also when it fails. */
int cm_caller_save(struct cm_caller *caller);
int cm_caller_restore(const struct cm_caller *caller, struct cm_diag *diag);
void cm_caller_fini(struct cm_caller *caller);

#endif
