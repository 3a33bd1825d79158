/* SPDX-License-Identifier: BSD-3-Clause */
/* Several ranks compared, with results that are made here, in memory, instead of writer/h5-*.c. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/inspect-model.h"
#include "tests/unit/counters-maker.h"

#define N_RANKS 3
#define N_REGIONS 4
#define START_NS INT64_C(1000000)

struct cm_results {
	struct cm_result_rank ranks[N_RANKS];
	struct cm_result_region regions[N_RANKS][N_REGIONS];
	struct cm_profile_thread threads[N_RANKS];
	uint64_t n_read;
};

static struct cm_results results;

size_t cm_results_n_ranks(const struct cm_results *from)
{
	(void)from;
	return N_RANKS;
}

const struct cm_result_rank *cm_results_rank(const struct cm_results *from, size_t idx)
{
	return &from->ranks[idx];
}

/* Call j of rank r starts at START_NS + 1000 * r + 10 * j and takes 7 ns. */
int cm_results_read_calls(struct cm_results *from, size_t rank_idx, size_t region_idx,
			  uint64_t first, size_t n, int64_t *ret_starts, int64_t *ret_ends,
			  int32_t *ret_threads, struct cm_diag *diag)
{
	size_t j;

	(void)ret_threads;
	if (first + n > from->regions[rank_idx][region_idx].n_calls)
		return cm_diag_set(diag, -ERANGE, "too far");
	for (j = 0; j < n; j++) {
		int64_t start = START_NS + 1000 * (int64_t)rank_idx + 10 * (int64_t)(first + j);

		if (ret_starts)
			ret_starts[j] = start;
		if (ret_ends)
			ret_ends[j] = start + 7;
	}
	from->n_read += n;
	return 0;
}

const char *cm_results_event_label(const struct cm_profile_counters *counters, size_t i, char *buf,
				   size_t n_bytes)
{
	snprintf(buf, n_bytes, "%s", counters->event_names[i]);
	return buf;
}

static void add_region(size_t r, const char *tag, uint64_t calls, int64_t total_ns)
{
	struct cm_result_rank *rank = &results.ranks[r];

	results.regions[r][rank->n_regions++] = (struct cm_result_region){
		.stats = {.tag = tag,
			  .library = "lib.so",
			  .calls = calls,
			  .total_ns = total_ns,
			  .min_ns = 7,
			  .max_ns = 7,
			  .histogram = {0, 0, calls}},
		.has_stats = true,
		.n_calls = calls,
	};
}

/* Ranks 0, 4 and 5: "even" on all, "skewed" with 300, 100 and nothing, "rare" on rank 4 alone. */
static void make_ranks(void)
{
	static const int64_t numbers[] = {0, 4, 5};
	size_t r;

	memset(&results, 0, sizeof(results));
	for (r = 0; r < N_RANKS; r++) {
		results.threads[r] =
			(struct cm_profile_thread){.first_ns = START_NS + 1000 * (int64_t)r,
						   .last_ns = START_NS + 1000 * (int64_t)r + 500};
		results.ranks[r] = (struct cm_result_rank){
			.rank = numbers[r],
			.hostname = r ? "node1" : "node0",
			.likwid_cpu_name = "CPU",
			.monotonic_to_realtime_ns = r ? 5000 : 9000,
			.regions = results.regions[r],
			.threads = &results.threads[r],
			.n_threads = 1,
		};
		add_region(r, "even", 10, 200);
	}
	add_region(0, "skewed", 5, 300);
	add_region(1, "skewed", 3, 100);
	add_region(1, "rare", 1, 50);
}

static void build(struct cm_inspection *inspection, const struct cm_inspect_options *options)
{
	cr_assert_eq(cm_inspection_build(inspection, &results, options, NULL), 0);
}

static const struct cm_inspect_region *find(const struct cm_inspect_section *section,
					    const char *tag)
{
	size_t i;

	for (i = 0; i < section->n_regions; i++)
		if (!strcmp(section->regions[i].stats.tag, tag))
			return &section->regions[i];
	cr_assert_fail("no region %s", tag);
	return NULL;
}

static void expect_balance(const struct cm_inspect_balance *balance, int64_t min_ns, double mean_ns,
			   int64_t max_ns, int64_t slowest, double imbalance, int64_t lost_ns)
{
	cr_expect_eq(balance->min_ns, min_ns);
	cr_expect_eq(balance->max_ns, max_ns);
	cr_expect_float_eq(balance->mean_ns, mean_ns, 1e-9);
	cr_expect_eq(balance->slowest, slowest);
	cr_expect_float_eq(balance->imbalance, imbalance, 1e-12);
	cr_expect_eq(balance->lost_ns, lost_ns);
}

Test(inspect_ranks, counts_a_region_as_0_where_a_rank_did_not_enter_it)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_section *all;

	make_ranks();
	build(&inspection, &options);
	all = &inspection.sections[0];
	expect_balance(&find(all, "even")->balance, 200, 200, 200, 0, 0, 0);
	/* max / mean - 1 = 300 / (400 / 3) - 1; lost 0 + 200 + 300. */
	expect_balance(&find(all, "skewed")->balance, 0, 400 / 3.0, 300, 0, 1.25, 500);
	expect_balance(&find(all, "rare")->balance, 0, 50 / 3.0, 50, 4, 2, 100);
	cr_expect_eq(find(all, "skewed")->n_ranks, 2);
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, adds_up_what_one_rank_has_twice)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_ranks();
	add_region(0, "rare", 1, 30);
	add_region(0, "rare", 1, 40);
	build(&inspection, &options);
	expect_balance(&find(&inspection.sections[0], "rare")->balance, 0, 40, 70, 0, 0.75, 90);
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, compares_only_the_ranks_asked_for)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_ranks();
	cr_assert_eq(cm_rank_set_parse(&options.selection.ranks, "4-5", NULL), 0);
	build(&inspection, &options);
	cr_expect_eq(inspection.sections[0].n_ranks, 2);
	expect_balance(&find(&inspection.sections[0], "skewed")->balance, 0, 50, 100, 4, 1, 100);
	cm_inspection_fini(&inspection);
	cm_inspect_options_fini(&options);
}

Test(inspect_ranks, has_no_slowest_rank_where_all_have_no_time)
{
	static const struct cm_rank_total totals[] = {{3, 0}, {4, -5}};
	struct cm_inspect_balance balance;

	cm_balance_of(&balance, totals, 2, 2);
	cr_expect_eq(balance.slowest, -1);
	cr_expect(balance.max_ns == 0 && balance.min_ns == 0 && balance.lost_ns == 0);
	cr_expect(isnan(balance.imbalance));
	cm_balance_of(&balance, NULL, 0, 7);
	cr_expect(balance.mean_ns == 0 && isnan(balance.imbalance));
}

Test(inspect_ranks, keeps_a_hostile_total_inside_int64)
{
	static const struct cm_rank_total totals[] = {{1, INT64_MAX}, {2, INT64_MIN}};
	struct cm_inspect_balance balance;

	cm_balance_of(&balance, totals, 2, 4096);
	cr_expect(balance.lost_ns == INT64_MAX && balance.max_ns == INT64_MAX);
	cr_expect_eq(balance.slowest, 1);
	cr_expect_float_eq(balance.imbalance, 4095, 1e-6);
}

Test(inspect_ranks, is_exact_over_4096_ranks)
{
	static struct cm_rank_total totals[4096];
	struct cm_inspect_balance balance;
	size_t r;

	for (r = 0; r < 4096; r++)
		totals[r] = (struct cm_rank_total){(int64_t)r, 1000000007 + (int64_t)(r % 16)};
	cm_balance_of(&balance, totals, 4096, 4096);
	expect_balance(&balance, 1000000007, 1000000007 + 7.5, 1000000022, 15,
		       1000000022 / 1000000014.5 - 1, 4096 / 16 * 120);
}

Test(inspect_ranks, orders_by_each_column_of_the_table_over_ranks)
{
	static const char *const first[CM_N_SORTS] = {
		[CM_SORT_TOTAL] = "even",  [CM_SORT_CALLS] = "even", [CM_SORT_AVG] = "even",
		[CM_SORT_MIN] = "even",	   [CM_SORT_MAX] = "skewed", [CM_SORT_IMBALANCE] = "rare",
		[CM_SORT_LOST] = "skewed", [CM_SORT_NAME] = "even",
	};
	static const char *const last[CM_N_SORTS] = {
		[CM_SORT_TOTAL] = "rare", [CM_SORT_CALLS] = "rare",  [CM_SORT_AVG] = "rare",
		[CM_SORT_MIN] = "skewed", [CM_SORT_MAX] = "rare",    [CM_SORT_IMBALANCE] = "even",
		[CM_SORT_LOST] = "even",  [CM_SORT_NAME] = "skewed",
	};
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_ranks();
	for (options.sort = 0; options.sort < CM_N_SORTS; options.sort++) {
		build(&inspection, &options);
		cr_expect_str_eq(inspection.by_balance[0]->stats.tag, first[options.sort], "%d",
				 options.sort);
		cr_expect_str_eq(inspection.by_balance[2]->stats.tag, last[options.sort], "%d",
				 options.sort);
		cm_inspection_fini(&inspection);
	}
}

Test(inspect_ranks, puts_ranks_of_several_nodes_on_one_axis)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_place *place;
	const struct cm_inspect_region *region;
	int64_t ns;

	make_ranks();
	build(&inspection, &options);
	/* First starts + offsets: START + 9000, START + 6000 and START + 7000: rank 4 is first. */
	cr_assert(cm_axis_zero(&inspection, &ns));
	cr_expect_eq(ns, START_NS + 6000);
	place = &inspection.sections[1].place;
	cr_assert(cm_axis_find(place, place->first_ns, &ns));
	cr_expect_eq(ns, 3000);
	place = &inspection.sections[3].place;
	cr_assert(cm_axis_find(place, place->last_ns, &ns));
	cr_expect_eq(ns, 1500);
	/* The raw values stay. */
	cr_expect_eq(place->first_ns, START_NS + 2000);
	region = find(&inspection.sections[1], "skewed");
	cr_assert(region->has_span);
	cr_expect_eq(region->first_ns, START_NS);
	cr_expect_eq(region->last_ns, START_NS + 40 + 7);
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, aligns_without_offsets_only_on_one_node)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	size_t r;
	int64_t ns;

	make_ranks();
	for (r = 0; r < N_RANKS; r++)
		results.ranks[r].monotonic_to_realtime_ns = 0;
	build(&inspection, &options);
	cr_expect_not(inspection.sections[1].place.is_aligned);
	cr_expect_not(cm_axis_zero(&inspection, &ns));
	cm_inspection_fini(&inspection);
	results.ranks[0].hostname = "node1";
	build(&inspection, &options);
	cr_assert(inspection.sections[1].place.is_aligned);
	cr_assert(cm_axis_find(&inspection.sections[3].place, START_NS + 2000, &ns));
	cr_expect_eq(ns, 2000);
	cr_expect_not(cm_axis_zero(&inspection, &ns));
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, leaves_a_rank_whose_times_mean_nothing_off_the_axis)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	int64_t ns;

	make_ranks();
	results.ranks[0].monotonic_to_realtime_ns = INT64_MAX;
	results.ranks[1].monotonic_to_realtime_ns = 0;
	build(&inspection, &options);
	cr_expect_not(inspection.sections[2].place.is_aligned);
	cr_expect_not(cm_axis_find(&inspection.sections[1].place, 0, &ns));
	cr_assert(cm_axis_find(&inspection.sections[3].place, START_NS + 2000, &ns));
	cr_expect_eq(ns, 0);
	cr_expect_not(cm_axis_find(&inspection.sections[3].place, INT64_MAX, &ns));
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, reads_no_trace_for_the_table_over_ranks_alone)
{
	struct cm_inspect_options options = {.is_brief = true};
	struct cm_inspection inspection = {0};

	make_ranks();
	build(&inspection, &options);
	cr_expect_eq(results.n_read, 0);
	expect_balance(&find(&inspection.sections[0], "rare")->balance, 0, 50 / 3.0, 50, 4, 2, 100);
	cm_inspection_fini(&inspection);
	/* One rank alone has its own table, as ever. */
	cr_assert_eq(cm_rank_set_parse(&options.selection.ranks, "4", NULL), 0);
	build(&inspection, &options);
	cr_expect_eq(results.n_read, 14);
	cr_expect(inspection.sections[0].regions[0].percentiles[0].is_exact);
	cm_inspection_fini(&inspection);
	cm_inspect_options_fini(&options);
}

/* Ranks 0 and 5 count the same events, rank 4 fell back to the marker file. */
static void add_counters(struct cm_profile_counters counters[N_RANKS][2])
{
	counters[0][0] = make_mem("even");
	counters[0][1] = make_mem("skewed");
	counters[1][0] = make_file("even");
	counters[2][0] = make_mem("even");
	results.ranks[0].counters = counters[0];
	results.ranks[0].n_counters = 2;
	results.ranks[1].counters = counters[1];
	results.ranks[2].counters = counters[2];
	results.ranks[1].n_counters = results.ranks[2].n_counters = 1;
}

Test(inspect_ranks, puts_the_hardware_threads_of_all_ranks_side_by_side)
{
	struct cm_profile_counters counters[N_RANKS][2];
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_profile_counters *even = NULL, *alone = NULL, *file = NULL;
	struct cm_counter_counts counts;
	size_t i;

	make_ranks();
	add_counters(counters);
	build(&inspection, &options);
	cr_expect_eq(inspection.merged.n_ranks_counted, 3);
	cr_expect_str_eq(inspection.merged.cpu_name, "CPU");
	for (i = 0; i < inspection.merged.n; i++) {
		if (!strcmp(inspection.merged.counters[i].tag, "skewed"))
			alone = &inspection.merged.counters[i];
		else if (!strcmp(inspection.merged.counters[i].source, "full_api"))
			even = &inspection.merged.counters[i];
		else
			file = &inspection.merged.counters[i];
	}
	cr_assert(even && alone && file);
	cr_expect_eq(even->n_cpus, 2 * counters[0][0].n_cpus);
	cr_expect_eq(inspection.merged.n_ranks[even - inspection.merged.counters], 2);
	cr_expect_eq(inspection.merged.n_ranks[alone - inspection.merged.counters], 1);
	/* Twice what one rank has (test-cli-inspect-counters.c). */
	cr_expect_eq(cm_counters_over(even, even->events, CM_OVER_SUM), 2 * 120);
	cr_expect_eq(cm_counters_over(even, even->metrics, CM_OVER_MEAN), 1.5);
	cr_expect_eq(cm_counters_over(alone, alone->events, CM_OVER_SUM), 120);
	cm_counters_counts(even, &counts);
	cr_expect_eq(counts.sum, 16);
	for (i = 0; i < even->n_events; i++)
		cr_expect_arr_eq(even->events + i * even->n_cpus + counters[0][0].n_cpus,
				 counters[0][0].events + i * counters[0][0].n_cpus,
				 counters[0][0].n_cpus * sizeof(double));
	/* One table of the group; the fallen-back rank is a column of its own. */
	cr_expect_eq(inspection.sections[0].counters.n_tables, 1);
	cr_expect_eq(inspection.sections[0].counters.n_columns, 3);
	cm_inspection_fini(&inspection);
}

Test(inspect_ranks, names_no_processor_where_ranks_have_several)
{
	struct cm_profile_counters counters[N_RANKS][2];
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_ranks();
	add_counters(counters);
	results.ranks[2].likwid_cpu_name = "another";
	build(&inspection, &options);
	cr_expect_str_eq(inspection.merged.cpu_name, "");
	cm_inspection_fini(&inspection);
}
