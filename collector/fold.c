/* SPDX-License-Identifier: BSD-3-Clause */
/* The cold half: totals blocks, and what a profile shows. */
#include "collector/fold.h"

#include <stdbool.h>
#include <string.h>

#define CM_FOLD_MAX_UNTIMED 64

typedef unsigned __int128 u128;

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static int64_t add_ns(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t as_ns(u128 ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

void cm_fold_init(struct cm_fold *fold)
{
	memset(fold, 0, sizeof(*fold));
	fold->min_ns = UINT64_MAX;
}

/* Calls that the block counted but that a SIGKILL kept out of its sums; 0 for nonsense. */
static uint64_t count_untimed(uint64_t pending, uint64_t n_calls)
{
	const uint64_t modulus = CM_PENDING_COUNT_MASK >> CM_PENDING_COUNT_SHIFT;
	uint64_t counted = (pending & CM_PENDING_COUNT_MASK) >> CM_PENDING_COUNT_SHIFT;
	uint64_t missing = (counted - n_calls) & modulus;

	/* One interrupted addition, and one for each signal handler nested in it. */
	return missing <= CM_FOLD_MAX_UNTIMED ? missing : 0;
}

static void add_extremes(struct cm_fold *fold, int64_t min, int64_t max)
{
	if ((uint64_t)min < fold->min_ns)
		fold->min_ns = (uint64_t)min;
	if ((uint64_t)max > fold->max_ns)
		fold->max_ns = (uint64_t)max;
}

/* The block's last call, which its sums do not hold yet. */
static void add_pending(struct cm_fold *fold, uint64_t pending, const struct cm_clock_map *map)
{
	int64_t ns = cm_clock_map_span(map, pending & CM_PENDING_TICKS_MASK);

	fold->histogram[63 - __builtin_clzll((uint64_t)ns | 1)]++;
	fold->totals_ns = add_ns(fold->totals_ns, ns);
	fold->totals_sum_sq_ns2 += (double)ns * (double)ns;
	add_extremes(fold, ns, ns);
}

void cm_fold_add_totals(struct cm_fold *fold, const struct cm_spool_totals *block,
			const struct cm_clock_map *map)
{
	u128 sum_sq = (u128)block->sum_sq_hi << 64 | block->sum_sq_lo;
	bool is_pending = block->pending & CM_PENDING_VALID;
	uint64_t n_calls = 0, n_untimed;

	fold->tool_ns = add_ns(fold->tool_ns, cm_clock_map_span(map, block->tool_ticks));
	for (int i = 0; i < CM_PROFILE_N_BUCKETS; i++) {
		n_calls = add_capped(n_calls, block->buckets[i]);
		fold->histogram[i] = add_capped(fold->histogram[i], block->buckets[i]);
	}
	n_calls = add_capped(n_calls, is_pending);
	n_untimed = count_untimed(block->pending, n_calls);
	fold->n_totals = add_capped(fold->n_totals, add_capped(n_calls, n_untimed));
	fold->n_lost = add_capped(fold->n_lost, add_capped(block->n_lost, n_untimed));
	fold->n_unwound = add_capped(fold->n_unwound, block->n_unwound);
	fold->n_skipped = add_capped(fold->n_skipped, block->n_skipped);
	fold->totals_ns = add_ns(fold->totals_ns, cm_clock_map_span(map, block->total));
	fold->totals_sum_sq_ns2 += (double)sum_sq * map->ns_per_tick * map->ns_per_tick;
	if (is_pending)
		add_pending(fold, block->pending, map);
	/*
	 * No minimum: a handler jumped out between the count and the sums. No calls: all of them
	 * are in the trace, the block is there for their tool_ticks.
	 */
	if (block->min != UINT64_MAX && n_calls > is_pending)
		add_extremes(fold, cm_clock_map_span(map, block->min),
			     cm_clock_map_span(map, block->max));
}

void cm_fold_finish(const struct cm_fold *fold, struct cm_profile_region *region)
{
	const uint64_t *flagged = fold->n_flagged;
	uint64_t n_calls = add_capped(fold->n_traced, fold->n_totals);

	region->calls = add_capped(n_calls, fold->n_open);
	region->total_ns = add_ns(as_ns(fold->total_ns), fold->totals_ns);
	region->min_ns = fold->min_ns == UINT64_MAX ? 0 : as_ns(fold->min_ns);
	region->max_ns = as_ns(fold->max_ns);
	region->sum_sq_ns2 = (double)fold->sum_sq_ns2 + fold->totals_sum_sq_ns2;
	region->tool_ns = fold->tool_ns;
	region->unwound = add_capped(flagged[CM_CALL_UNWOUND] + flagged[3], fold->n_unwound);
	region->skipped = add_capped(flagged[CM_CALL_SKIPPED] + flagged[3], fold->n_skipped);
	region->open = fold->n_open;
	region->dropped_events = fold->n_lost;
	memcpy(region->histogram, fold->histogram, sizeof(region->histogram));
}
