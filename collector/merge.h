/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merging sorted runs of a temporary file with a heap. A part of collector/sorter.c.
 */
#ifndef CALLMARK_COLLECTOR_MERGE_H
#define CALLMARK_COLLECTOR_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/sorter.h"
#include "collector/spill.h"

struct cm_merge_run {
	uint64_t off; /* in the file */
	uint64_t n;   /* records, > 0 */
};

/* How many runs one merge can take with buffers of n_room records in all; at least 2. */
size_t cm_merge_max_runs(size_t n_room);

/*
 * Merge runs (at most cm_merge_max_runs(n_room)), by region, then start, then run, reading each
 * through its share of buffer, which holds n_room records. emit as in cm_sorter_merge().
 */
int cm_merge_runs(struct cm_spill *spill, const struct cm_merge_run *runs, size_t n_runs,
		  struct cm_record *buffer, size_t n_room,
		  int (*emit)(void *ctx, const struct cm_record *records, size_t n,
			      struct cm_diag *diag),
		  void *ctx, struct cm_diag *diag);

#endif
