/* SPDX-License-Identifier: BSD-3-Clause */
/* The model against results that are made here, in memory, instead of writer/h5-*.c. */
#include "cli/inspect-model.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_RANKS 3
#define N_REGIONS 4

struct cm_results {
	struct cm_result_rank ranks[N_RANKS];
	struct cm_result_region regions[N_RANKS][N_REGIONS];
	size_t n_ranks;
	uint64_t n_read;
	int rc;
};

size_t cm_results_n_ranks(const struct cm_results *results)
{
	return results->n_ranks;
}

const struct cm_result_rank *cm_results_rank(const struct cm_results *results, size_t idx)
{
	return &results->ranks[idx];
}

/* Call j of region k on rank r starts at 1000 * j and takes (r + 1) * (k + 1) * (j % 100) ns. */
static int64_t duration_of(size_t rank_idx, size_t region_idx, uint64_t j)
{
	return (int64_t)((rank_idx + 1) * (region_idx + 1) * (j % 100));
}

int cm_results_read_calls(struct cm_results *results, size_t rank_idx, size_t region_idx,
			  uint64_t first, size_t n, int64_t *ret_starts, int64_t *ret_ends,
			  int32_t *ret_threads, struct cm_diag *diag)
{
	uint64_t j;

	cr_assert_null(ret_threads);
	cr_assert_leq(first + n, results->regions[rank_idx][region_idx].n_calls);
	for (j = first; j < first + n; j++) {
		if (ret_starts)
			ret_starts[j - first] = (int64_t)j * 1000;
		if (ret_ends)
			ret_ends[j - first] =
				(int64_t)j * 1000 + duration_of(rank_idx, region_idx, j);
	}
	results->n_read += n;
	return results->rc < 0 ? cm_diag_set(diag, results->rc, "cannot read") : 0;
}

const char *cm_results_event_label(const struct cm_profile_counters *counters, size_t i, char *buf,
				   size_t n_bytes)
{
	snprintf(buf, n_bytes, "%s", counters->event_names[i]);
	return buf;
}

static void add_region(struct cm_results *results, size_t r, const char *tag, uint64_t n)
{
	struct cm_result_rank *rank = &results->ranks[r];
	size_t k = rank->n_regions++;
	struct cm_result_region *region = &results->regions[r][k];
	int64_t ns;
	uint64_t j;

	*region = (struct cm_result_region){
		.stats = {.tag = tag, .library = "lib.so", .calls = n},
		.has_stats = true,
		.n_calls = n,
	};
	for (j = 0; j < n; j++) {
		ns = duration_of(r, k, j);
		region->stats.total_ns += ns;
		region->stats.max_ns = ns > region->stats.max_ns ? ns : region->stats.max_ns;
		region->stats.sum_sq_ns2 += (double)ns * (double)ns;
		region->stats.histogram[ns > 1 ? 63 - __builtin_clzll((uint64_t)ns) : 0]++;
	}
	rank->regions = results->regions[r];
}

static struct cm_results results;

/* Two ranks that share "both"; each has one of its own. */
static void make_two_ranks(void)
{
	memset(&results, 0, sizeof(results));
	results.n_ranks = 2;
	results.ranks[0].rank = 0;
	results.ranks[1].rank = 4;
	results.ranks[0].hostname = results.ranks[1].hostname = "";
	add_region(&results, 0, "both", 1000);
	add_region(&results, 0, "only0", 200);
	add_region(&results, 1, "only4", 300);
	add_region(&results, 1, "both", 2000);
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

static void build(struct cm_inspection *inspection, struct cm_inspect_options *options)
{
	cr_assert_eq(cm_inspection_build(inspection, &results, options, NULL), 0);
}

Test(model, has_no_section_over_ranks_where_there_is_one)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_two_ranks();
	results.n_ranks = 1;
	build(&inspection, &options);
	cr_expect_eq(inspection.n_sections, 1);
	cr_expect_not_null(inspection.sections[0].rank);
	cm_inspection_fini(&inspection);
}

Test(model, works_out_averages_and_exact_percentiles)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_region *region;

	make_two_ranks();
	build(&inspection, &options);
	/* Rank 4's "both" is its second region: 4 * (0..99) ns, each 20 times. */
	region = find(&inspection.sections[2], "both");
	cr_expect_float_eq(region->avg_ns, 4 * 49.5, 1e-9);
	cr_expect_float_eq(region->std_ns, 4 * sqrt((100.0 * 100 - 1) / 12), 1e-6);
	cr_expect_eq(region->percentiles[0].ns, 4 * 49);
	cr_expect_eq(region->percentiles[1].ns, 4 * 94);
	cr_expect_eq(region->percentiles[2].ns, 4 * 98);
	cr_expect(region->percentiles[0].is_exact);
	cm_inspection_fini(&inspection);
}

Test(model, sums_over_ranks_and_selects_from_all_traces)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_region *region;

	make_two_ranks();
	build(&inspection, &options);
	cr_assert_eq(inspection.n_sections, 3);
	cr_expect_null(inspection.sections[0].rank);
	cr_expect_eq(inspection.sections[0].n_regions, 3);
	region = find(&inspection.sections[0], "both");
	cr_expect_eq(region->stats.calls, 3000);
	cr_expect_eq(region->n_ranks, 2);
	cr_expect_eq(region->stats.total_ns, 1000 / 100 * 4950 + 2000 / 100 * 4 * 4950);
	cr_expect_eq(region->stats.max_ns, 4 * 99);
	cr_expect(region->percentiles[0].is_exact);
	/* Of 10 times 0..99 and 20 times 4 * (0..99), the 1500th is 99: 10 * 100 + 20 * 25. */
	cr_expect_eq(region->percentiles[0].ns, 99);
	region = find(&inspection.sections[0], "only4");
	cr_expect_eq(region->n_ranks, 1);
	cr_expect_eq(region->percentiles[0].ns, 2 * 49);
	cm_inspection_fini(&inspection);
}

Test(model, reads_a_modest_trace_once)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	size_t r;

	make_two_ranks();
	/* Thread times are there: nothing else needs reading. */
	for (r = 0; r < 2; r++) {
		static const struct cm_profile_thread thread = {.first_ns = 5, .last_ns = 200005};

		results.ranks[r].threads = &thread;
		results.ranks[r].n_threads = 1;
	}
	build(&inspection, &options);
	cr_expect_eq(results.n_read, 3500);
	cr_expect_eq(inspection.sections[0].profiled_ns, 400000);
	cr_expect_float_eq(find(&inspection.sections[1], "both")->share, 49500 / 200000.0, 1e-12);
	cm_inspection_fini(&inspection);
}

Test(model, streams_what_is_too_much_to_keep)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_region *region;

	memset(&results, 0, sizeof(results));
	results.n_ranks = 2;
	results.ranks[1].rank = 1;
	results.ranks[0].hostname = results.ranks[1].hostname = "";
	add_region(&results, 0, "many", 2500000);
	add_region(&results, 1, "many", 2500000);
	build(&inspection, &options);
	region = find(&inspection.sections[0], "many");
	cr_expect(region->percentiles[0].is_exact);
	/* 25000 times each of 0..99 and of 2 * (0..99): 2.5 million are at most 66. */
	cr_expect_eq(region->percentiles[0].ns, 66);
	region = find(&inspection.sections[2], "many");
	cr_expect_eq(region->percentiles[2].ns, 2 * 98);
	cm_inspection_fini(&inspection);
}

Test(model, estimates_where_a_trace_is_capped)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_region *region;

	make_two_ranks();
	results.regions[0][0].n_calls = 10;
	build(&inspection, &options);
	region = find(&inspection.sections[1], "both");
	cr_expect_not(region->percentiles[0].is_exact);
	/* 0..99 evenly: the bucket is right, the place in it nearly. */
	cr_expect(fabs(region->percentiles[0].ns - 49) < 3);
	cr_expect_not(find(&inspection.sections[0], "both")->percentiles[0].is_exact);
	cr_expect(find(&inspection.sections[2], "both")->percentiles[0].is_exact);
	cm_inspection_fini(&inspection);
}

Test(model, trusts_no_share_above_all_of_a_partly_traced_time)
{
	static const struct cm_profile_thread thread = {.first_ns = 0, .last_ns = 40000};
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_two_ranks();
	results.n_ranks = 1;
	results.ranks[0].threads = &thread;
	results.ranks[0].n_threads = 1;
	build(&inspection, &options);
	cr_expect(inspection.sections[0].is_complete);
	cr_expect_float_eq(find(&inspection.sections[0], "both")->share, 49500 / 40000.0, 1e-12);
	cm_inspection_fini(&inspection);
	results.regions[0][1].n_calls = 10;
	build(&inspection, &options);
	cr_expect_not(inspection.sections[0].is_complete);
	cr_expect(isnan(find(&inspection.sections[0], "both")->share));
	cr_expect_float_eq(find(&inspection.sections[0], "only0")->share, 19800 / 40000.0, 1e-12);
	cm_inspection_fini(&inspection);
}

Test(model, keeps_open_calls_out_of_the_times)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	const struct cm_inspect_region *region;

	make_two_ranks();
	results.n_ranks = 1;
	results.regions[0][0].stats.calls += 2;
	results.regions[0][0].stats.open = 2;
	results.regions[0][1] = (struct cm_result_region){
		.stats = {.tag = "only0", .library = "", .calls = 1, .open = 1}};
	build(&inspection, &options);
	region = find(&inspection.sections[0], "both");
	cr_expect_eq(region->n_completed, 1000);
	cr_expect_float_eq(region->avg_ns, 49.5, 1e-9);
	cr_expect(region->percentiles[0].is_exact);
	region = find(&inspection.sections[0], "only0");
	cr_expect(isnan(region->avg_ns));
	cr_expect(isnan(region->percentiles[0].ns));
	cm_inspection_fini(&inspection);
}

Test(model, takes_the_span_from_the_traces_without_thread_times)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_two_ranks();
	results.n_ranks = 1;
	cr_assert_eq(cm_filter_add(&options.selection.filter, CM_FILTER_INCLUDE, "only", NULL), 0);
	build(&inspection, &options);
	/* The region that is filtered out counts: its last call starts at 999000. */
	cr_expect_eq(inspection.sections[0].profiled_ns, 999000 + 99);
	cr_expect_eq(inspection.sections[0].n_regions, 1);
	cr_expect_eq(inspection.sections[0].n_hidden, 1);
	cm_inspection_fini(&inspection);
	cm_inspect_options_fini(&options);
}

Test(model, sorts_by_every_key)
{
	static const char *const first[CM_N_SORTS] = {
		[CM_SORT_TOTAL] = "both",
		[CM_SORT_CALLS] = "both",
		[CM_SORT_AVG] = "both",
		[CM_SORT_MIN] = "only4",
		[CM_SORT_MAX] = "both",
		[CM_SORT_NAME] = "both",
		/* One rank has neither: as by total. */
		[CM_SORT_LOST] = "both",
		[CM_SORT_IMBALANCE] = "both",
	};
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};

	make_two_ranks();
	results.regions[1][0].stats.min_ns = 1;
	for (options.sort = 0; options.sort < CM_N_SORTS; options.sort++) {
		build(&inspection, &options);
		cr_expect_str_eq(inspection.sections[2].regions[0].stats.tag, first[options.sort]);
		cm_inspection_fini(&inspection);
	}
}

Test(model, shows_only_the_ranks_asked_for)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	struct cm_diag diag = {0};

	make_two_ranks();
	cr_assert_eq(cm_rank_set_parse(&options.selection.ranks, "1-4", NULL), 0);
	build(&inspection, &options);
	cr_assert_eq(inspection.n_sections, 1);
	cr_expect_eq(inspection.sections[0].rank->rank, 4);
	cm_inspection_fini(&inspection);
	cr_assert_eq(cm_rank_set_parse(&options.selection.ranks, "0,7", NULL), 0);
	cr_expect_eq(cm_inspection_build(&inspection, &results, &options, &diag), -EINVAL);
	cr_expect_str_eq(diag.text, "there is no rank 7 in it");
	cm_inspection_fini(&inspection);
	cm_inspect_options_fini(&options);
}

Test(model, has_counters_of_each_rank_in_the_order_of_its_regions)
{
	static const struct cm_profile_counters counters[] = {
		{.tag = "both", .group_name = "G"},
		{.tag = "only0", .group_name = "G"},
		{.tag = "untimed", .group_name = "G"}};
	struct cm_inspect_options options = {.sort = CM_SORT_NAME};
	struct cm_inspection inspection = {0};
	size_t i;

	make_two_ranks();
	results.ranks[0].counters = counters;
	results.ranks[0].n_counters = 3;
	results.regions[0][0].stats.tag = "zuletzt";
	cr_assert_eq(cm_filter_add(&options.selection.filter, CM_FILTER_EXCLUDE, "both", NULL), 0);
	build(&inspection, &options);
	cr_expect_eq(inspection.sections[0].counters.n_columns, 2);
	cr_assert_eq(inspection.sections[1].counters.n_tables, 1);
	cr_assert_eq(inspection.sections[1].counters.n_columns, 2);
	for (i = 0; i < 2; i++)
		cr_expect_eq(inspection.sections[1].counters.columns[i].counters, &counters[i + 1]);
	cr_expect_eq(inspection.sections[2].counters.n_tables, 0);
	cm_inspection_fini(&inspection);
	cm_inspect_options_fini(&options);
}

Test(model, passes_a_read_error_on)
{
	struct cm_inspect_options options = {0};
	struct cm_inspection inspection = {0};
	struct cm_diag diag = {0};

	make_two_ranks();
	results.rc = -EIO;
	cr_expect_eq(cm_inspection_build(&inspection, &results, &options, &diag), -EIO);
	cr_expect_str_eq(diag.text, "cannot read");
	cm_inspection_fini(&inspection);
}
