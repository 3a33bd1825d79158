/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any number of calls, in any order, out again by region and start, in bounded memory.
 *
 *	cm_sorter_new(&sorter, n_regions, n_expected, 0, dir, &diag);
 *	rc = cm_sorter_add(sorter, &record, &diag);             n times
 *	cm_sorter_merge(sorter, emit, ctx, &diag);              once
 *	cm_sorter_free(sorter);
 *
 * What does not fit goes, as sorted runs, to an unnamed temporary file in `dir` (or $TMPDIR);
 * more runs than can be merged at once are first merged into longer ones.
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_SORTER_H
#define CALLMARK_COLLECTOR_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

struct cm_record {
	int64_t start; /* ns */
	int64_t end;
	uint32_t region;
	int32_t thread;
};
_Static_assert(sizeof(struct cm_record) == 24, "what a spilled call costs");

struct cm_sorter;

/*
 * n_expected: about how many will come, only a hint. n_bytes: what the two buffers take together
 * at most; 0: 64 MiB.
 */
int cm_sorter_new(struct cm_sorter **ret_sorter, uint32_t n_regions, uint64_t n_expected,
		  size_t n_bytes, const char *dir, struct cm_diag *diag);

/* record->region < n_regions. */
int cm_sorter_add(struct cm_sorter *sorter, const struct cm_record *record, struct cm_diag *diag);

/*
 * emit(ctx, records, n, diag) gets all of them, ascending by region, then start; calls with the
 * same start in the order of their addition as long as they were in one run. A negative result
 * of emit ends the merge and is returned.
 */
int cm_sorter_merge(struct cm_sorter *sorter,
		    int (*emit)(void *ctx, const struct cm_record *records, size_t n,
				struct cm_diag *diag),
		    void *ctx, struct cm_diag *diag);

void cm_sorter_free(struct cm_sorter *sorter);

#endif
