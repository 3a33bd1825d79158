/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/inspect-counters.h"

#include <criterion/criterion.h>

#include "cli/inspect-model.h"
#include "tests/unit/counters-maker.h"

Test(inspect_counters, sums_over_the_hardware_threads_that_entered)
{
	struct cm_profile_counters mem = make_mem("a");
	struct cm_counter_counts counts;

	cr_expect_eq(cm_counters_n_entered(&mem), 2);
	cr_expect_eq(cm_counters_over(&mem, mem_values, CM_OVER_SUM), 120);
	cr_expect_eq(cm_counters_over(&mem, mem_values, CM_OVER_MIN), 20);
	cr_expect_eq(cm_counters_over(&mem, mem_values, CM_OVER_MAX), 100);
	cr_expect_eq(cm_counters_over(&mem, mem_metric_values, CM_OVER_MEAN), 1.5);
	cr_expect_eq(cm_counters_over(&mem, mem.times, CM_OVER_MAX), 2.25);
	cm_counters_counts(&mem, &counts);
	cr_expect_eq(counts.sum, 8);
	cr_expect_eq(counts.min, 3);
	cr_expect_eq(counts.max, 5);
}

Test(inspect_counters, sums_whole_numbers_exactly_above_2_to_the_53)
{
	static const double values[] = {0x1p53, 1, 1};
	static const int64_t each_once[] = {1, 1, 1};
	struct cm_profile_counters mem = make_mem("a");

	mem.call_counts = each_once;
	cr_expect_eq(cm_counters_over(&mem, values, CM_OVER_SUM), 0x1p53 + 2);
}

Test(inspect_counters, says_nan_where_one_thread_could_not_be_counted)
{
	struct cm_profile_counters mem = make_mem("a");

	cr_expect(isnan(cm_counters_over(&mem, mem_metric_values + 6, CM_OVER_MEAN)));
	cr_expect(isnan(cm_counters_over(&mem, mem_metric_values + 6, CM_OVER_SUM)));
	/* What is known has extremes. */
	cr_expect_eq(cm_counters_over(&mem, mem_metric_values + 6, CM_OVER_MIN), 5);
}

Test(inspect_counters, takes_all_threads_where_none_entered)
{
	static const int64_t none[] = {0, 0, 0};
	struct cm_profile_counters mem = make_mem("a");
	struct cm_counter_counts counts;

	mem.call_counts = none;
	cr_expect_eq(cm_counters_over(&mem, mem_values, CM_OVER_SUM), 1120);
	cm_counters_counts(&mem, &counts);
	cr_expect_eq(counts.sum, 0);
	mem.n_cpus = 0;
	cr_expect(isnan(cm_counters_over(&mem, mem_values, CM_OVER_SUM)));
}

Test(inspect_counters, keeps_a_sum_of_counts_inside_int64)
{
	static const int64_t many[] = {INT64_MAX, INT64_MAX, -5};
	struct cm_profile_counters mem = make_mem("a");
	struct cm_counter_counts counts;

	mem.call_counts = many;
	cm_counters_counts(&mem, &counts);
	cr_expect_eq(counts.sum, INT64_MAX);
	cr_expect_eq(cm_counters_n_entered(&mem), 2);
}

/* Regions of group 1, one of group 0, and the table of regions to follow. */
static void build(struct cm_counter_tables *tables, const char *exclude)
{
	static struct cm_profile_counters counters[5];
	static struct cm_inspect_region regions[3];
	static const double long_time[] = {100, 0, 0};
	struct cm_inspect_section section = {.regions = regions, .n_regions = 3};
	struct cm_result_rank rank = {.counters = counters, .n_counters = 5};
	struct cm_filter filter = {0};

	counters[0] = make_mem("cheap");
	counters[1] = make_mem("untimed");
	counters[2] = make_mem("costly");
	counters[3] = make_file("untimed_but_longer");
	counters[3].times = long_time;
	counters[4] = make_mem("cheap");
	counters[4].group_id = 0;
	counters[4].group_name = "CLOCK";
	regions[0].stats.tag = "costly";
	regions[1].stats.tag = "without_counters";
	regions[2].stats.tag = "cheap";
	if (exclude)
		cr_assert_eq(cm_filter_add(&filter, CM_FILTER_EXCLUDE, exclude, NULL), 0);
	cr_assert_eq(cm_counter_tables_build(tables, &rank, &filter, &section, NULL), 0);
	cm_filter_fini(&filter);
}

Test(inspect_counters, makes_a_table_for_each_group_in_the_order_of_regions)
{
	static const char *const expected[] = {"costly", "cheap", "untimed_but_longer", "untimed"};
	struct cm_counter_tables tables = {0};
	size_t i;

	build(&tables, NULL);
	cr_assert_eq(tables.n_tables, 2);
	cr_expect_eq(tables.tables[0].n_columns, 1);
	cr_expect_str_eq(tables.tables[0].columns[0].counters->group_name, "CLOCK");
	cr_assert_eq(tables.tables[1].n_columns, 4);
	for (i = 0; i < 4; i++)
		cr_expect_str_eq(tables.tables[1].columns[i].counters->tag, expected[i]);
	/* The four labels of MEM, and two of the marker file's three. */
	cr_expect_eq(tables.tables[1].names.n[CM_COUNTER_EVENT], 6);
	cm_counter_tables_fini(&tables);
}

Test(inspect_counters, leaves_out_what_the_filter_does)
{
	struct cm_counter_tables tables = {0};

	build(&tables, "cheap|untimed_");
	cr_assert_eq(tables.n_tables, 1);
	cr_assert_eq(tables.n_columns, 2);
	cr_expect_str_eq(tables.columns[1].counters->tag, "untimed");
	cm_counter_tables_fini(&tables);
	build(&tables, ".");
	cr_expect_eq(tables.n_tables, 0);
	cm_counter_tables_fini(&tables);
}
