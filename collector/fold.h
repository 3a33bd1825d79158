/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of one region: of the calls that have a record, and of those that the totals blocks
 * hold instead. Sums are exact integers until they are handed out.
 *
 *	cm_fold_init(&fold);
 *	cm_fold_add(&fold, end_ns - start_ns, flags);          every traced call
 *	cm_fold_add_totals(&fold, &block, &clock_map);         every totals block
 *	cm_fold_finish(&fold, &region);
 *
 * Threads: one at a time. Nothing here can fail; hostile numbers saturate.
 */
#ifndef CALLMARK_COLLECTOR_FOLD_H
#define CALLMARK_COLLECTOR_FOLD_H

#include <stdint.h>

#include "collector/clock.h"
#include "collector/profile.h"
#include "preload/spool.h"

struct cm_fold {
	uint64_t n_traced;
	unsigned __int128 total_ns;
	uint64_t min_ns; /* UINT64_MAX: none yet */
	uint64_t max_ns;
	unsigned __int128 sum_sq_ns2;
	uint64_t n_flagged[4]; /* by CM_CALL_* flags */
	uint64_t histogram[CM_PROFILE_N_BUCKETS];
	/* Of the totals blocks. */
	uint64_t n_totals;
	int64_t totals_ns;
	double totals_sum_sq_ns2;
	int64_t tool_ns;
	uint64_t n_unwound;
	uint64_t n_skipped;
	uint64_t n_lost;
	uint64_t n_open;
};

void cm_fold_init(struct cm_fold *fold);

static inline void cm_fold_add(struct cm_fold *fold, uint64_t ns, unsigned int flags)
{
	fold->n_traced++;
	fold->total_ns += ns;
	fold->min_ns = ns < fold->min_ns ? ns : fold->min_ns;
	fold->max_ns = ns > fold->max_ns ? ns : fold->max_ns;
	fold->sum_sq_ns2 += (unsigned __int128)ns * ns;
	fold->histogram[63 - __builtin_clzll(ns | 1)]++;
	if (__builtin_expect(flags != 0, 0))
		fold->n_flagged[flags & 3]++;
}

/* A block of this region; its ticks are scaled with the map's overall rate. */
void cm_fold_add_totals(struct cm_fold *fold, const struct cm_spool_totals *block,
			const struct cm_clock_map *map);

/* Fill in the numbers: calls, times, histogram, unwound ... dropped_events. n_trace stays. */
void cm_fold_finish(const struct cm_fold *fold, struct cm_profile_region *region);

#endif
