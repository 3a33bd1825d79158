/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/fold.h"

#include <criterion/criterion.h>
#include <string.h>

static struct cm_fold fold;
static struct cm_profile_region region;
static struct cm_clock_map map;

static void setup(void)
{
	/* Two ticks a nanosecond. */
	static const struct cm_clock_point points[] = {{2000, 1000}, {4000000, 2000000}};

	memset(&region, 0, sizeof(region));
	cm_fold_init(&fold);
	cr_assert_eq(cm_clock_map_init(&map, CM_CLOCK_TSC, points, 2, 0), 0);
}

static void teardown(void)
{
	cm_clock_map_fini(&map);
}

TestSuite(fold, .init = setup, .fini = teardown);

/* n calls of so many ticks, as the preload sums them. */
static void add_to_block(struct cm_spool_totals *block, uint64_t n, uint64_t ticks)
{
	unsigned __int128 sum = (unsigned __int128)block->sum_sq_hi << 64 | block->sum_sq_lo;

	if (!block->used)
		block->min = UINT64_MAX;
	block->used = 1;
	block->total += n * ticks;
	block->min = ticks < block->min ? ticks : block->min;
	block->max = ticks > block->max ? ticks : block->max;
	sum += (unsigned __int128)n * ticks * ticks;
	block->sum_sq_lo = (uint64_t)sum;
	block->sum_sq_hi = (uint64_t)(sum >> 64);
	block->buckets[63 - __builtin_clzll(ticks / 2 | 1)] += n;
}

Test(fold, sums_traced_calls_exactly)
{
	static const uint64_t calls[] = {0, 1, 2, 3, 1000, UINT64_C(1) << 40};
	double sum_sq = 0;
	int64_t total = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		cm_fold_add(&fold, calls[i], 0);
		total += (int64_t)calls[i];
		sum_sq += (double)calls[i] * (double)calls[i];
	}
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, 6);
	cr_assert_eq(region.total_ns, total);
	cr_assert_eq(region.min_ns, 0);
	cr_assert_eq(region.max_ns, INT64_C(1) << 40);
	cr_assert_float_eq(region.sum_sq_ns2, sum_sq, 1);
	cr_assert_eq(region.histogram[0], 2); /* 0 and 1 */
	cr_assert_eq(region.histogram[1], 2);
	cr_assert_eq(region.histogram[9], 1);
	cr_assert_eq(region.histogram[40], 1);
}

Test(fold, adds_the_calls_of_a_capped_region_to_those_that_were_traced)
{
	struct cm_spool_totals block = {0};

	for (int i = 0; i < 10; i++)
		cm_fold_add(&fold, 100, 0);
	add_to_block(&block, 1000, 300); /* 150 ns */
	add_to_block(&block, 1, 20);	 /* 10 ns */
	block.tool_ticks = 5000;
	cm_fold_add_totals(&fold, &block, &map);
	fold.n_open = 2;
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, 10 + 1001 + 2);
	cr_assert_leq(region.total_ns, 1000 + 150000 + 10);
	cr_assert_geq(region.total_ns, 1000 + 150000 + 10 - 2);
	cr_assert_eq(region.min_ns, 10);
	cr_assert_eq(region.max_ns, 150);
	cr_assert_float_eq(region.sum_sq_ns2, 10 * 1e4 + 1000 * 22500.0 + 100, 30);
	cr_assert_eq(region.tool_ns, 2500);
	cr_assert_eq(region.histogram[6], 10);
	cr_assert_eq(region.histogram[7], 1000);
	cr_assert_eq(region.histogram[3], 1);
	cr_assert_eq(region.open, 2);
	cr_assert_eq(region.dropped_events, 0);
}

Test(fold, adds_the_pending_call_and_counts_one_that_was_killed_on_its_way)
{
	const uint64_t one = UINT64_C(1) << CM_PENDING_COUNT_SHIFT;
	struct cm_spool_totals block = {.used = 1, .min = UINT64_MAX};

	add_to_block(&block, 3, 16);			  /* 8 ns each */
	block.pending = CM_PENDING_VALID | 5 * one | 200; /* the fourth call is in no sum */
	cm_fold_add_totals(&fold, &block, &map);
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, 5);
	cr_assert_eq(region.dropped_events, 1);
	cr_assert_eq(region.total_ns, 3 * 8 + 100);
	cr_assert_eq(region.min_ns, 8);
	cr_assert_eq(region.max_ns, 100);
	cr_assert_eq(region.histogram[3], 3);
	cr_assert_eq(region.histogram[6], 1);
}

Test(fold, counts_abnormal_ends_of_both_kinds)
{
	struct cm_spool_totals block = {.n_unwound = 3, .n_skipped = 4, .n_lost = 5};

	cm_fold_add(&fold, 1, CM_CALL_UNWOUND);
	cm_fold_add(&fold, 1, CM_CALL_SKIPPED);
	cm_fold_add(&fold, 1, CM_CALL_SKIPPED);
	add_to_block(&block, 10, 10);
	cm_fold_add_totals(&fold, &block, &map);
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.unwound, 4);
	cr_assert_eq(region.skipped, 6);
	cr_assert_eq(region.dropped_events, 5);
	cr_assert_eq(region.calls, 13);
}

Test(fold, takes_the_buckets_for_the_number_of_calls)
{
	/* A handler's siglongjmp can leave a count without its sums. */
	struct cm_spool_totals block = {.used = 1, .min = UINT64_MAX, .buckets = {[4] = 7}};

	cm_fold_add_totals(&fold, &block, &map);
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, 7);
	cr_assert_eq(region.min_ns, 0);
	cr_assert_eq(region.max_ns, 0);
	cr_assert_eq(region.total_ns, 0);
}

Test(fold, leaves_the_times_alone_when_a_block_has_only_our_own_work)
{
	struct cm_spool_totals block = {.used = 1, .min = UINT64_MAX, .tool_ticks = 100};

	cm_fold_add(&fold, 50, 0);
	cm_fold_add_totals(&fold, &block, &map);
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, 1);
	cr_assert_eq(region.min_ns, 50);
	cr_assert_eq(region.tool_ns, 50);
}

Test(fold, saturates_on_hostile_numbers)
{
	struct cm_spool_totals block;

	memset(&block, 0xff, sizeof(block));
	block.min = 5;
	for (int i = 0; i < 3; i++)
		cm_fold_add_totals(&fold, &block, &map);
	for (int i = 0; i < 3; i++)
		cm_fold_add(&fold, INT64_MAX, 0);
	cm_fold_finish(&fold, &region);
	cr_assert_eq(region.calls, UINT64_MAX);
	cr_assert_eq(region.total_ns, INT64_MAX);
	cr_assert_eq(region.max_ns, INT64_MAX);
	cr_assert_eq(region.dropped_events, UINT64_MAX);
}
