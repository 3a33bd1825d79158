/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters on their way from the spool into the file. */
#include "collector/collect-spool.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/counters-fixture.h"
#include "writer/results.h"

static char out_path[96];
static struct cm_results *results;

static void setup(void)
{
	struct spool_words words = {0};

	counters_setup();
	snprintf(out_path, sizeof(out_path), "%s/out.h5", counters_dir);
	spool_maker_thread(&counters_maker, 0, 0, 4242, "main");
	for (uint64_t i = 0; i < 4; i++)
		spool_words_call(&words, 0, 1000 + 200 * i, 1100 + 200 * i, 0);
	spool_maker_dat(&counters_maker, 0, &words);
	spool_words_fini(&words);
}

static void teardown(void)
{
	if (results)
		cm_results_close(results);
	counters_teardown();
}

TestSuite(collect_counters, .init = setup, .fini = teardown, .timeout = 60);

/* The spool's file, opened again. */
static const struct cm_result_rank *collect(void)
{
	struct cm_collect_options options = {.output = out_path};
	struct cm_diag diag = {0};
	int rc;

	spool_maker_process(&counters_maker);
	rc = cm_collect_spool(counters_spool, &options, &diag);
	cr_assert_eq(rc, 0, "%s", diag.text);
	cr_assert_lt(access(counters_spool, F_OK), 0, "the spool is still there");
	cr_assert_eq(cm_results_open(&results, out_path, &diag), 0, "%s", diag.text);
	return cm_results_rank(results, 0);
}

/* Totals for region 0 that hold no call, only the time of its markers. */
static void add_tool_ticks(void)
{
	struct cm_spool_totals blocks[] = {
		{.used = 1, .region = 0, .min = UINT64_MAX, .tool_ticks = 777},
		{.used = 1, .region = 1, .tool_ticks = 5},
	};

	spool_maker_totals(&counters_maker, 0, blocks, 2);
}

Test(collect_counters, stand_in_the_file_beside_the_timings)
{
	const struct cm_result_rank *rank;

	counters_add_closed();
	counters_set_script("make; kill -SEGV $$");
	add_tool_ticks();
	rank = collect();
	cr_assert(rank->has_likwid);
	cr_assert_eq(rank->n_counters, 2);
	cr_assert_str_eq(rank->counters[0].source, "full_api");
	cr_assert_str_empty(rank->likwid_fallback);
	cr_assert_str_eq(rank->likwid_cpu_name, "Zen");
	cr_assert_eq(rank->n_likwid_environment, 2);
	cr_assert_eq(rank->n_regions, 1, "a region without a call is not there");
	cr_assert_eq(rank->regions[0].stats.calls, 4);
	cr_assert_eq(rank->regions[0].stats.tool_ns, 777);
	cr_assert_eq(rank->regions[0].stats.min_ns, 100);
	cr_assert_eq(rank->regions[0].stats.max_ns, 100);
}

Test(collect_counters, that_nobody_could_read_leave_a_reason_and_all_timings)
{
	const struct cm_result_rank *rank;

	counters_add_closed();
	counters_set_script("echo because >&2; exit 1");
	rank = collect();
	cr_assert(rank->has_likwid);
	cr_assert_eq(rank->n_counters, 0);
	cr_assert(strstr(rank->likwid_fallback, "because"), "%s", rank->likwid_fallback);
	cr_assert_eq(rank->regions[0].stats.calls, 4);
}

Test(collect_counters, that_were_refused_are_a_note_and_skips_stand_beside_it)
{
	struct cm_spool_skips_item skips = {.n = {[CM_MARKER_SKIP_BUSY] = 7}};
	const struct cm_result_rank *rank;

	counters_add_state(CM_COUNTERS_REFUSED, "no liblikwid found");
	spool_maker_item(&counters_maker, CM_ITEM_SKIPS, &skips, sizeof(skips), NULL);
	rank = collect();
	cr_assert_not(rank->has_likwid);
	cr_assert_eq(rank->n_notes, 1);
	cr_assert_str_eq(rank->notes[0], "no hardware counters: no liblikwid found");
	cr_assert_eq(rank->n_skips, 1);
	cr_assert_str_eq(rank->skips[0].reason, "busy");
	cr_assert_eq(rank->skips[0].n, 7);
}

Test(collect_counters, reader_does_not_outlive_a_file_that_cannot_be_written)
{
	struct cm_collect_options options = {.output = "/nonexistent/folder/out.h5"};
	struct cm_diag diag = {0};

	counters_add_closed();
	counters_set_script("make; exec sleep 1000");
	spool_maker_process(&counters_maker);
	cr_assert_lt(cm_collect_spool(counters_spool, &options, &diag), 0);
	cr_assert_neq(diag.text[0], '\0');
}
