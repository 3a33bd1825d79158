/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was made of a run: <run folder>/outputs, for `run` to tell (collector/collect.h), and
 * <run folder>/.ledger, which holds what a later collector of the same run must know to give the
 * main name away or to complete it. Both only grow, a line at a time, under a lock.
 *
 * Threads: one at a time; processes: any. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_OUTPUTS_H
#define CALLMARK_COLLECTOR_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/arena.h"

/* One file that was made. */
struct cm_output {
	bool is_main;	/* it is, or is in, main_path */
	bool is_ranked; /* `run` itself was inside the rank */
	int64_t rank;
	int64_t join_size; /* ranks that share main_path */
	int64_t pid;
	const char *run_id;
	const char *main_path;
	const char *path;
};

/* A path with a tab or a newline is -EINVAL: no line could hold it. */
int cm_outputs_append(const char *run_path, const struct cm_output *output);

/* All lines of the ledger, in order, into the arena; none when there is no ledger. */
int cm_outputs_read(const char *run_path, struct cm_arena *arena, struct cm_output **ret_outputs,
		    size_t *ret_n);

/* Remove both files. */
void cm_outputs_remove(const char *run_path);

#endif
