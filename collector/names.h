/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which file a process's profile goes to (the rules stand in collector/collect.h).
 *
 *	cm_names_find(&names, &reader, &rank, options->output, &diag);
 *	names.main_path, names.has_main, names.other_path ...
 *
 * Threads: any. Errors: -ENAMETOOLONG and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_NAMES_H
#define CALLMARK_COLLECTOR_NAMES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "collector/rank.h"
#include "collector/spool-reader.h"

struct cm_names {
	bool has_main;	   /* it may join the main name (another process may have been faster) */
	bool is_ranked;	   /* `run` itself is inside the rank */
	int64_t join_size; /* ranks that share the main name; 1: it is this process's alone */
	char main_path[PATH_MAX];
	char other_path[PATH_MAX]; /* <stem>.<exe>-<pid>.h5 */
};

/*
 * pattern: of the main name, NULL: the spool's. %r, %p, %h are replaced; a name with
 * %p is each process's own, one with %r each rank's.
 */
int cm_names_find(struct cm_names *names, struct cm_spool_reader *reader,
		  const struct cm_rank *rank, const char *pattern, struct cm_diag *diag);

#endif
