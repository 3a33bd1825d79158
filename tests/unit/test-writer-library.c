/* SPDX-License-Identifier: BSD-3-Clause */
/* The public read API, through libcallmark.so: callmark/results.h. */
#include <criterion/criterion.h>

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <string.h>

#include <callmark/results.h>

#include "tests/unit/writer-fixture.h"

static const char *const events[] = {"INSTR", "CAS", "CAS"};
static const char *const registers[] = {"FIXC0", "MBOX0C0", "MBOX1C0"};
static const char *const metrics[] = {"CPI"};
static const int64_t cpus[] = {3, 1};
static const double times[] = {0.25, 0.5};
static const int64_t counts[] = {1, 2};
static const double values[] = {10, 11, 20, NAN, 30, 31};

static const struct cm_profile_counters counters[] = {
	{"region_0", 0, "MEM", "full_api", events, registers, metrics, 3, 1, 2, cpus, times, counts,
	 values, values},
	{"region_0", 1, "CLOCK", "marker_file", events, NULL, NULL, 3, 0, 2, cpus, times, counts,
	 values, NULL},
};

static const struct cm_meta environment[] = {{"LIKWID_EVENTS", CM_META_STRING, "MEM|CLOCK"}};
static const struct cm_profile_skip skips[] = {{"migrated", 7}};

/* A file of rank 2 with two regions of 5 calls, and counters for one. */
static struct callmark_results *open_results(struct fixture *fixture, bool with_counters)
{
	struct cm_profile *profile = &fixture->profile;
	struct callmark_results *results;
	struct cm_diag diag = {0};
	char error[256] = "";

	fixture_init(fixture, 2, 5);
	profile->rank = 2;
	profile->has_likwid = with_counters;
	profile->likwid_cpu_name = "a CPU";
	profile->likwid_environment = environment;
	profile->n_likwid_environment = 1;
	profile->counters = counters;
	profile->n_counters = 2;
	profile->skips = skips;
	profile->n_skips = 1;
	profile->likwid_fallback = "a reason";
	cr_assert_eq(fixture_write(fixture, fixture->path, CM_COMPRESS_FAST, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(callmark_results_open(fixture->path, &results, error, sizeof(error)), 0, "%s",
		     error);
	return results;
}

static void finish(struct fixture *fixture, struct callmark_results *results)
{
	callmark_results_close(results);
	fixture_fini(fixture);
}

Test(library, ranks_are_found_by_their_numbers)
{
	const struct callmark_results_rank *rank;
	struct callmark_results *results;
	struct fixture fixture;
	const int64_t *ranks;

	results = open_results(&fixture, true);
	cr_assert_eq(callmark_results_ranks(results, &ranks), 1);
	cr_assert_eq(ranks[0], 2);
	cr_assert_eq(callmark_results_ranks(results, NULL), 1);
	cr_assert_eq(callmark_results_missing_ranks(results, &ranks), 0);
	rank = callmark_results_rank(results, 2);
	cr_assert_eq(rank->rank, 2);
	cr_assert_str_eq(rank->hostname, "host");
	cr_assert_str_eq(rank->executable, "/bin/prog");
	cr_assert_str_eq(rank->clock, "tsc");
	cr_assert_eq(rank->pid, 4711);
	cr_assert(rank->has_exit_status);
	cr_assert_eq(rank->exit_status, 3);
	cr_assert_eq(rank->monotonic_to_realtime_ns, -1);
	cr_assert_eq(rank->overhead_ns_per_call, 17.5);
	cr_assert_eq(rank->dropped_events, 2);
	cr_assert_eq(rank->n_command_line, 4);
	cr_assert_str_eq(rank->command_line[2], "a b");
	cr_assert_str_eq(rank->never_called[0], "never");
	cr_assert_str_eq(rank->notes[0], "one note");
	cr_assert_str_eq(callmark_results_run_id(results), "run-1");
	cr_assert_str_eq(callmark_results_version(results), "9.8.7");
	finish(&fixture, results);
}

Test(library, regions_say_from_where_they_were_entered)
{
	const struct callmark_results_region *region;
	struct callmark_results *results;
	struct fixture fixture;

	results = open_results(&fixture, false);
	region = callmark_results_find_region(results, 2, "region_1");
	cr_assert_str_eq(region->source_file, "/src/solver.c");
	cr_assert_eq(region->source_lineno, 1);
	cr_assert(region->has_call_paths);
	region = callmark_results_find_region(results, 2, "region_0");
	cr_assert_str_eq(region->source_file, "");
	cr_assert_eq(region->source_lineno, 0);
	cr_assert_not(region->has_call_paths);
	cr_assert_eq(region->n_call_paths, 0);
	finish(&fixture, results);
	fixture_init(&fixture, 3, 5);
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_FAST, NULL), 0);
	cr_assert_eq(callmark_results_open(fixture.path, &results, NULL, 0), 0);
	region = callmark_results_find_region(results, 0, "region_2");
	cr_assert_eq(region->n_call_paths, 1);
	cr_assert_str_eq(region->call_path_frames[0], "f [prog] f.c:3 < main [prog] main.c:7");
	cr_assert_eq(region->call_path_calls[0], INT64_MAX);
	cr_assert_eq(region->call_path_total_ns[0], INT64_MAX);
	finish(&fixture, results);
}

Test(library, metadata_and_threads)
{
	const struct callmark_results_metadata *modules;
	struct callmark_results *results;
	struct fixture fixture;

	results = open_results(&fixture, true);
	modules = callmark_results_find_metadata(results, "modules");
	cr_assert_eq(modules, callmark_results_metadata(results, 0));
	cr_assert_eq(modules->kind, CALLMARK_RESULTS_STRINGS);
	cr_assert_eq(modules->n_strings, 2);
	cr_assert_str_eq(modules->string, "");
	cr_assert_eq(callmark_results_find_metadata(results, "start_time_ns")->integer, INT64_MAX);
	cr_assert_null(callmark_results_find_metadata(results, "absent"));
	cr_assert(callmark_results_metadata(results, 3));
	cr_assert_null(callmark_results_metadata(results, 4));
	cr_assert_str_eq(callmark_results_thread(results, 2, 1)->name, "worker");
	cr_assert_eq(callmark_results_thread(results, 2, 1)->first_ns, -3);
	cr_assert_null(callmark_results_thread(results, 2, 2));
	finish(&fixture, results);
}

Test(library, regions_have_their_statistics_and_their_calls)
{
	const struct callmark_results_region *region;
	int64_t starts[5], ends[5];
	int32_t threads[5];
	struct callmark_results *results;
	struct fixture fixture;
	char error[64] = "";

	results = open_results(&fixture, true);
	region = callmark_results_find_region(results, 2, "region_1");
	cr_assert_eq(region, callmark_results_region(results, 2, 1));
	cr_assert_str_eq(region->tag, "region_1");
	cr_assert_str_eq(region->library, "libfoo.so.1");
	cr_assert_eq(region->n_symbols, 1);
	cr_assert_str_eq(region->symbols[0], "cblas_dgemm");
	cr_assert(region->has_statistics);
	cr_assert_eq(region->calls, 6);
	cr_assert_eq(region->n_traced, 5);
	cr_assert_eq(region->total_ns, 10);
	cr_assert_eq(region->min_ns, INT64_MIN);
	cr_assert_eq(region->sum_sq_ns2, 1e300 + 1);
	cr_assert_eq(region->histogram[63], 9);
	cr_assert_eq(region->max_events, UINT64_MAX);
	cr_assert_eq(callmark_results_read_calls(results, region, 1, 4, starts, ends, threads,
						 error, sizeof(error)),
		     0, "%s", error);
	for (uint64_t i = 0; i < 4; i++) {
		cr_assert_eq(starts[i], fixture_start(1, i + 1));
		cr_assert_eq(ends[i], fixture_end(1, i + 1));
		cr_assert_eq(threads[i], fixture_thread(&fixture, 1, i + 1));
	}
	cr_assert_eq(callmark_results_read_calls(results, region, 3, 3, starts, NULL, NULL, error,
						 sizeof(error)),
		     -ERANGE);
	cr_assert_neq(error[0], '\0');
	finish(&fixture, results);
}

Test(library, counters_are_found_by_rank_tag_and_group)
{
	const struct callmark_results_likwid *likwid;
	struct callmark_results *results;
	struct fixture fixture;
	const int64_t *ranks;

	results = open_results(&fixture, true);
	cr_assert(callmark_results_has_likwid(results));
	cr_assert_eq(callmark_results_likwid_ranks(results, &ranks), 1);
	cr_assert_eq(ranks[0], 2);
	likwid = callmark_results_find_likwid(results, 2, "region_0", "MEM");
	cr_assert_eq(likwid, callmark_results_find_likwid(results, 2, "region_0", NULL));
	cr_assert_eq(likwid, callmark_results_likwid(results, 2, 0));
	cr_assert_str_eq(likwid->source, "full_api");
	cr_assert_eq(likwid->n_cpus, 2);
	cr_assert_eq(likwid->cpus[1], 1);
	cr_assert_eq(likwid->times_s[1], 0.5);
	cr_assert_eq(likwid->call_counts[1], 2);
	cr_assert_eq(likwid->events[0 * likwid->n_cpus + 1], 11);
	cr_assert(isnan(likwid->events[1 * likwid->n_cpus + 1]));
	cr_assert_eq(likwid->metrics[1], 11);
	cr_assert_str_eq(likwid->metric_names[0], "CPI");
	cr_assert_str_eq(likwid->counter_names[2], "MBOX1C0");
	cr_assert_str_eq(likwid->event_names[2], "CAS");
	cr_assert_str_eq(likwid->event_labels[0], "INSTR");
	cr_assert_str_eq(likwid->event_labels[1], "CAS:MBOX0C0");
	cr_assert_str_eq(likwid->event_labels[2], "CAS:MBOX1C0");
	likwid = callmark_results_find_likwid(results, 2, "region_0", "CLOCK");
	cr_assert_eq(likwid->group_id, 1);
	cr_assert_eq(likwid->n_metrics, 0);
	cr_assert_str_eq(likwid->counter_names[1], "");
	cr_assert_str_eq(likwid->event_labels[1], "CAS#1");
	finish(&fixture, results);
}

Test(library, the_environment_of_the_counters)
{
	struct callmark_results *results;
	const struct callmark_results_rank *rank;
	struct fixture fixture;

	results = open_results(&fixture, true);
	rank = callmark_results_rank(results, 2);
	cr_assert(rank->has_likwid);
	cr_assert_eq(rank->n_likwid, 2);
	cr_assert_str_eq(rank->likwid_cpu_name, "a CPU");
	cr_assert_str_eq(rank->likwid_fallback, "a reason");
	cr_assert_eq(rank->n_likwid_variables, 1);
	cr_assert_str_eq(rank->likwid_variables[0], "LIKWID_EVENTS");
	cr_assert_str_eq(rank->likwid_values[0], "MEM|CLOCK");
	cr_assert_eq(rank->n_skips, 1);
	cr_assert_str_eq(rank->skip_reasons[0], "migrated");
	cr_assert_eq(rank->skip_counts[0], 7);
	cr_assert_str_eq(callmark_results_likwid_variable(results, 2, "LIKWID_EVENTS"),
			 "MEM|CLOCK");
	cr_assert_null(callmark_results_likwid_variable(results, 2, "LIKWID_MODE"));
	finish(&fixture, results);
}

Test(library, what_is_not_there_is_null)
{
	struct callmark_results *results;
	struct fixture fixture;

	results = open_results(&fixture, false);
	cr_assert_not(callmark_results_has_likwid(results));
	cr_assert_eq(callmark_results_likwid_ranks(results, NULL), 0);
	cr_assert_not(callmark_results_rank(results, 2)->has_likwid);
	cr_assert_null(callmark_results_likwid(results, 2, 0));
	cr_assert_null(callmark_results_find_likwid(results, 2, "region_0", NULL));
	cr_assert_null(callmark_results_region(results, 2, 2));
	cr_assert_null(callmark_results_find_region(results, 2, "nothing"));
	for (int64_t rank = -1; rank < 2; rank++) {
		cr_assert_null(callmark_results_rank(results, rank));
		cr_assert_null(callmark_results_thread(results, rank, 0));
		cr_assert_null(callmark_results_region(results, rank, 0));
		cr_assert_null(callmark_results_find_region(results, rank, "region_0"));
		cr_assert_null(callmark_results_find_likwid(results, rank, "region_0", NULL));
		cr_assert_null(callmark_results_likwid_variable(results, rank, "LIKWID_EVENTS"));
	}
	finish(&fixture, results);
	callmark_results_close(NULL);
}

Test(library, errors_fill_the_buffer_and_nothing_else)
{
	struct callmark_results *results = NULL;
	char error[10] = "untouched";

	cr_assert_eq(callmark_results_open("/nonexistent", &results, NULL, 0), -ENOENT);
	cr_assert_eq(callmark_results_open("/nonexistent", &results, error, 0), -ENOENT);
	cr_assert_str_eq(error, "untouched");
	cr_assert_eq(callmark_results_open("/bin/sh", &results, error, sizeof(error)), -EINVAL);
	cr_assert_str_eq(error, "/bin/sh: ");
	cr_assert_null(results);
}

static herr_t print_nothing(hid_t stack, void *ctx)
{
	(void)stack;
	(void)ctx;
	return 0;
}

/* fixture_write() above is the same HDF5, but not the same copy of our code. */
Test(library, a_program_that_uses_hdf5_keeps_its_settings)
{
	struct callmark_results *results;
	H5E_auto2_t printer;
	void *printer_ctx;
	unsigned plugins = 0;
	int mine;

	cr_assert_geq(H5Eset_auto2(H5E_DEFAULT, print_nothing, &mine), 0);
	cr_assert_geq(H5PLset_loading_state(H5PL_ALL_PLUGIN), 0);
	cr_assert_eq(callmark_results_open("/bin/sh", &results, NULL, 0), -EINVAL);
	cr_assert_geq(H5Eget_auto2(H5E_DEFAULT, &printer, &printer_ctx), 0);
	cr_assert_geq(H5PLget_loading_state(&plugins), 0);
	cr_assert_eq(printer, print_nothing);
	cr_assert_eq(printer_ctx, &mine);
	cr_assert_eq(plugins, H5PL_ALL_PLUGIN);
}
