/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/clock.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "preload/spool.h"

#define N_POINTS(points) (sizeof(points) / sizeof(*(points)))

static struct cm_clock_map map;

static void init(uint32_t clock, const struct cm_clock_point *points, size_t n, double rate)
{
	cr_assert_eq(cm_clock_map_init(&map, clock, points, n, rate), 0);
}

static uint64_t random_below(uint64_t limit)
{
	uint64_t value = (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();

	return value % limit;
}

Test(clock, is_exact_for_the_monotonic_clock)
{
	static const struct cm_clock_point wrong[] = {{5, 100}, {10, 900}};
	static const uint64_t ticks[] = {0, 1, 999, UINT64_C(123456789012345678), INT64_MAX};

	init(CM_CLOCK_MONOTONIC, wrong, 2, 0.3);
	for (size_t i = 0; i < N_POINTS(ticks); i++)
		cr_assert_eq(cm_clock_map_ns(&map, ticks[i]), (int64_t)ticks[i]);
	cr_assert_eq(cm_clock_map_span(&map, 77), 77);
	cr_assert_eq(cm_clock_map_ns(&map, (uint64_t)INT64_MAX + 1), INT64_MAX);
	cm_clock_map_fini(&map);
}

Test(clock, meets_every_sync_point_and_is_within_1_ns_between)
{
	static const struct cm_clock_point points[] = {
		{UINT64_C(90000000000000), INT64_C(30000000000000)},
		{UINT64_C(90000000000000) + 29999998777, INT64_C(30000000000000) + 10000000000},
		{UINT64_C(90000000000000) + 60000000001, INT64_C(30000000000000) + 20000000123},
		{UINT64_C(90000000000000) + 90000000003, INT64_C(30000000000000) + 30000000001},
	};

	init(CM_CLOCK_TSC, points, N_POINTS(points), 0);
	srand(1);
	for (size_t i = 0; i < N_POINTS(points); i++)
		cr_assert_eq(cm_clock_map_ns(&map, points[i].tick), points[i].ns);
	for (int k = 0; k < 100000; k++) {
		size_t i = (size_t)rand() % 3;
		uint64_t n_ticks = points[i + 1].tick - points[i].tick;
		uint64_t n_ns = (uint64_t)(points[i + 1].ns - points[i].ns);
		uint64_t at = random_below(n_ticks);
		int64_t exact = points[i].ns + (int64_t)((unsigned __int128)at * n_ns / n_ticks);
		int64_t got = cm_clock_map_ns(&map, points[i].tick + at);

		cr_assert(got == exact || got == exact - 1, "%ld is not %ld", (long)got,
			  (long)exact);
	}
	cm_clock_map_fini(&map);
}

/* Pairs of neighbours around every point, and at random places over the whole range. */
static void expect_monotone(const struct cm_clock_point *points, size_t n)
{
	for (int k = 0; k < 200000; k++) {
		uint64_t tick =
			k % 2 ? random_below(UINT64_MAX)
			      : points[(size_t)rand() % n].tick + (uint64_t)rand() % 64 - 32;
		uint64_t later = tick + random_below(k % 3 ? 4 : UINT64_C(1) << 40);
		int64_t ns;

		if (later < tick)
			continue;
		ns = cm_clock_map_ns(&map, tick);
		cr_assert_leq(ns, cm_clock_map_ns(&map, later), "at %lu and %lu",
			      (unsigned long)tick, (unsigned long)later);
	}
}

Test(clock, is_monotone_whatever_the_points_are)
{
	struct cm_clock_point points[20];

	srand(2);
	for (int round = 0; round < 20; round++) {
		size_t n = 1 + (size_t)rand() % 20;

		for (size_t i = 0; i < n; i++) {
			points[i].tick = random_below(round % 2 ? UINT64_MAX : 1000000);
			points[i].ns = (int64_t)random_below(round % 3 ? INT64_MAX : 100000);
		}
		init(CM_CLOCK_TSC, points, n, 0.4);
		expect_monotone(points, n);
		cm_clock_map_fini(&map);
	}
}

static void expect_near(uint64_t tick, int64_t ns)
{
	cr_assert_leq(llabs(cm_clock_map_ns(&map, tick) - ns), 1, "%lu is %ld, not %ld",
		      (unsigned long)tick, (long)cm_clock_map_ns(&map, tick), (long)ns);
}

Test(clock, goes_on_with_the_overall_rate_outside_the_points)
{
	static const struct cm_clock_point points[] = {{3000, 1000}, {6000, 2000}, {9000, 3000}};

	init(CM_CLOCK_TSC, points, N_POINTS(points), 0);
	expect_near(12000, 4000);
	expect_near(1500, 500);
	cr_assert_leq(llabs(cm_clock_map_span(&map, 3000000) - 1000000), 1);
	cm_clock_map_fini(&map);
}

Test(clock, survives_wild_points)
{
	static const struct cm_clock_point points[] = {
		{1000, 1000},	   {2000, 2000}, {2500, 9},  {3000, 3000},
		{3500, INT64_MAX}, {4000, 4000}, {3000, 77}, {5000, 5000},
	};

	init(CM_CLOCK_TSC, points, N_POINTS(points), 0);
	for (uint64_t tick = 1000; tick <= 5000; tick += 50)
		expect_near(tick, (int64_t)tick);
	cm_clock_map_fini(&map);
}

Test(clock, takes_the_given_rate_when_one_point_is_all_there_is)
{
	static const struct cm_clock_point point = {5000, 700};

	init(CM_CLOCK_TSC, &point, 1, 0.25);
	cr_assert_eq(cm_clock_map_ns(&map, 5000), 700);
	cr_assert_eq(cm_clock_map_ns(&map, 9000), 1700);
	cr_assert_not(map.is_guessed);
	cm_clock_map_fini(&map);
	init(CM_CLOCK_TSC, &point, 1, 0);
	cr_assert_eq(cm_clock_map_ns(&map, 5010), 710);
	cr_assert(map.is_guessed);
	cm_clock_map_fini(&map);
	init(CM_CLOCK_TSC, NULL, 0, 0);
	cr_assert(map.is_guessed);
	cm_clock_map_fini(&map);
}

Test(clock, handles_slow_counters)
{
	/* 24 MHz: 41.67 ns a tick. */
	static const struct cm_clock_point points[] = {{24000000, 1000000000},
						       {48000000, 2000000000}};

	init(CM_CLOCK_TSC, points, 2, 0);
	expect_near(36000000, 1500000000);
	expect_near(24000003, 1000000125);
	cm_clock_map_fini(&map);
}

Test(clock, saturates_beyond_int64)
{
	static const struct cm_clock_point points[] = {{10, INT64_MAX - 100}, {20, INT64_MAX - 50}};

	init(CM_CLOCK_TSC, points, 2, 0);
	cr_assert_eq(cm_clock_map_ns(&map, UINT64_MAX), INT64_MAX);
	cr_assert_eq(cm_clock_map_ns(&map, 20), INT64_MAX - 50);
	cr_assert_eq(cm_clock_map_span(&map, (unsigned __int128)1 << 80), INT64_MAX);
	cm_clock_map_fini(&map);
}

Test(clock, reads_this_machines_counter_forwards)
{
	struct cm_clock_point first, second;
	int64_t offset;

	if (!cm_clock_here(&first, &offset))
		cr_skip_test("no time-stamp counter");
	cr_assert(cm_clock_here(&second, &offset));
	cr_assert_lt(first.tick, second.tick);
	cr_assert_leq(first.ns, second.ns);
	cr_assert_gt(offset, 0);
}
