/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written comes back: writer/writer.h against writer/results.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/writer-fixture.h"

static struct cm_results *open_results(const char *path)
{
	struct cm_results *results;
	struct cm_diag diag = {0};

	cr_assert_eq(cm_results_open(&results, path, &diag), 0, "%s", diag.text);
	return results;
}

static void check_round_trip(struct fixture *fixture, enum cm_compress compress)
{
	struct cm_results *results;
	struct cm_diag diag = {0};

	cr_assert_eq(fixture_write(fixture, fixture->path, compress, &diag), 0, "%s", diag.text);
	results = open_results(fixture->path);
	cr_assert_eq(cm_results_n_ranks(results), 1);
	fixture_check_rank(fixture, results, 0);
	cm_results_close(results);
	cr_assert_eq(fixture_count_files(fixture), 1);
}

struct size_case {
	char name[24];
	enum cm_compress compress;
	uint64_t n_trace;
};

ParameterizedTestParameters(store, every_number_comes_back)
{
	static struct size_case cases[] = {
		{"plain, no calls", CM_COMPRESS_NONE, 0},
		{"plain, one call", CM_COMPRESS_NONE, 1},
		{"plain, many appends", CM_COMPRESS_NONE, 200001},
		{"fast, no calls", CM_COMPRESS_FAST, 0},
		{"fast, one call", CM_COMPRESS_FAST, 1},
		{"fast, one chunk", CM_COMPRESS_FAST, 256},
		{"fast, many chunks", CM_COMPRESS_FAST, 200001},
		{"small, many chunks", CM_COMPRESS_SMALL, 70000},
		{"default", CM_COMPRESS_DEFAULT, 5000},
	};

	return cr_make_param_array(struct size_case, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(struct size_case *param, store, every_number_comes_back)
{
	struct fixture fixture;

	fixture_init(&fixture, 3, param->n_trace);
	check_round_trip(&fixture, param->compress);
	fixture_fini(&fixture);
}

Test(store, five_thousand_regions, .timeout = 120)
{
	struct fixture fixture;

	fixture_init(&fixture, 5000, 3);
	check_round_trip(&fixture, CM_COMPRESS_NONE);
	fixture_fini(&fixture);
}

Test(store, more_compressed_regions_than_datasets_stay_open, .timeout = 120)
{
	struct fixture fixture;

	fixture_init(&fixture, 300, 1200); /* three appends each, round robin */
	check_round_trip(&fixture, CM_COMPRESS_FAST);
	fixture_fini(&fixture);
}

Test(store, no_region_at_all)
{
	struct fixture fixture;

	fixture_init(&fixture, 0, 0);
	check_round_trip(&fixture, CM_COMPRESS_DEFAULT);
	fixture_fini(&fixture);
}

Test(store, tags_keep_their_bytes_whatever_their_groups_are_called)
{
	static const char *const tags[] = {"a/b", "a|b",    "a|b#2",  "",	  ".",
					   "..",  "\xff/x", "\xfe/x", "\xc3\xa4", "a/b"};
	struct fixture fixture;
	struct cm_results *results;
	const struct cm_result_rank *rank;
	size_t n_same = 0;

	fixture_init(&fixture, 10, 2);
	for (size_t i = 0; i < 10; i++)
		fixture.regions[i].tag = tags[i];
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	results = open_results(fixture.path);
	rank = cm_results_rank(results, 0);
	cr_assert_eq(rank->n_regions, 10);
	for (size_t i = 0; i < 10; i++)
		(void)fixture_find(rank, tags[i]); /* asserts */
	for (size_t i = 0; i < 10; i++)
		n_same += strcmp(rank->regions[i].stats.tag, "a/b") == 0;
	cr_assert_eq(n_same, 2);
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(store, metadata_come_back_with_their_kinds)
{
	struct fixture fixture;
	struct cm_results *results;
	const struct cm_meta *meta;
	size_t n;

	fixture_init(&fixture, 1, 1);
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	results = open_results(fixture.path);
	meta = cm_results_metadata(results, &n);
	cr_assert_eq(n, 4);
	cr_assert_str_eq(meta[0].name, "modules");
	cr_assert_eq(meta[0].kind, CM_META_STRINGS);
	cr_assert_eq(meta[0].n_strings, 2);
	cr_assert_str_eq(meta[0].strings[1], "openmpi");
	cr_assert_str_eq(meta[1].name, "mpi_size");
	cr_assert_eq(meta[1].integer, 1);
	cr_assert_str_eq(meta[2].name, "start_time_ns");
	cr_assert_eq(meta[2].integer, INT64_MAX);
	cr_assert_str_eq(meta[3].string, "2026-01-02T03:04:05Z");
	cr_assert_str_eq(cm_results_run_id(results), "run-1");
	cr_assert_str_eq(cm_results_version(results), "9.8.7");
	cr_assert_eq(cm_results_mpi_size(results), 1);
	(void)cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 0);
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(store, long_values_are_cut_with_a_mark)
{
	struct fixture fixture;
	struct cm_results *results;
	const struct cm_meta *meta;
	char *path = malloc(200001);
	struct cm_meta long_meta = {"PATH", CM_META_STRING, path};
	size_t n;

	memset(path, 'x', 200000);
	path[200000] = '\0';
	fixture_init(&fixture, 0, 0);
	fixture.profile.metadata = &long_meta;
	fixture.profile.n_metadata = 1;
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	results = open_results(fixture.path);
	meta = cm_results_metadata(results, &n);
	cr_assert_eq(strlen(meta[0].string), 60000);
	cr_assert_str_eq(meta[0].string + 60000 - 14, "...[truncated]");
	cm_results_close(results);
	fixture_fini(&fixture);
	free(path);
}

Test(store, absent_numbers_stay_absent)
{
	struct fixture fixture;
	struct cm_results *results;

	fixture_init(&fixture, 0, 0);
	fixture.profile.has_exit_status = false;
	fixture.profile.overhead_ns_per_call = NAN;
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	results = open_results(fixture.path);
	cr_assert_not(cm_results_rank(results, 0)->has_exit_status);
	cr_assert(isnan(cm_results_rank(results, 0)->overhead_ns_per_call));
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(store, numbers_are_read_at_commit)
{
	struct fixture fixture;
	struct cm_writer *writer;
	struct cm_results *results;
	int64_t start = 5, end = 9;

	fixture_init(&fixture, 1, 1);
	fixture.regions[0].one_thread = true;
	cr_assert_eq(cm_writer_open(&writer, fixture.path, &fixture.profile, NULL, NULL), 0);
	cr_assert_eq(cm_writer_append(writer, 0, &start, &end, NULL, 1, NULL), 0);
	fixture.regions[0].calls = 12345;
	cr_assert_eq(cm_writer_commit(writer, NULL), 0);
	results = open_results(fixture.path);
	cr_assert_eq(cm_results_rank(results, 0)->regions[0].stats.calls, 12345);
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(store, a_thread_that_made_all_calls_costs_no_room)
{
	struct fixture fixture;
	struct stat one, two;

	fixture_init(&fixture, 1, 100000);
	fixture.regions[0].one_thread = false;
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	cr_assert_eq(stat(fixture.path, &two), 0);
	fixture.regions[0].one_thread = true;
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, NULL), 0);
	cr_assert_eq(stat(fixture.path, &one), 0);
	cr_assert_geq(two.st_size - one.st_size, 399000);
	cr_assert_leq(one.st_size, 1600000 + 48 * 1024);
	fixture_fini(&fixture);
}

Test(store, wrong_amounts_of_calls_are_refused_and_leave_nothing)
{
	struct fixture fixture;
	struct cm_writer *writer;
	int64_t rows[3] = {1, 2, 3};
	int32_t who[3] = {0};

	fixture_init(&fixture, 1, 2);
	cr_assert_eq(cm_writer_open(&writer, fixture.path, &fixture.profile, NULL, NULL), 0);
	cr_assert_eq(cm_writer_append(writer, 0, rows, rows, who, 3, NULL), -EINVAL);
	cr_assert_eq(cm_writer_append(writer, 0, rows, rows, NULL, 1, NULL), -EINVAL);
	cr_assert_eq(cm_writer_append(writer, 0, rows, rows, who, 1, NULL), 0);
	cr_assert_eq(cm_writer_commit(writer, NULL), -EINVAL);
	cr_assert_eq(fixture_count_files(&fixture), 0);
	cr_assert_eq(cm_writer_open(&writer, fixture.path, &fixture.profile, NULL, NULL), 0);
	cm_writer_discard(writer);
	cm_writer_discard(NULL);
	cr_assert_eq(fixture_count_files(&fixture), 0);
	fixture_fini(&fixture);
}

Test(store, row_buffers_stay_within_their_budget)
{
	struct fixture fixture;
	struct cm_writer *writer;
	size_t n_rows = 0;

	fixture_init(&fixture, 5000, 1000000);
	cr_assert_eq(cm_writer_open(&writer, fixture.path, &fixture.profile, NULL, NULL), 0);
	for (size_t i = 0; i < 5000; i++)
		n_rows += cm_writer_rows(writer, i);
	cr_assert_leq(n_rows * 20, (size_t)64 << 20);
	cr_assert_geq(n_rows * 20, (size_t)16 << 20);
	cm_writer_discard(writer);
	fixture_fini(&fixture);
}

Test(store, names_of_compression)
{
	enum cm_compress compress = CM_COMPRESS_SMALL;

	cr_assert_eq(cm_compress_parse(NULL, &compress), 0);
	cr_assert_eq(compress, CM_COMPRESS_DEFAULT);
	cr_assert_eq(cm_compress_parse("none", &compress), 0);
	cr_assert_eq(compress, CM_COMPRESS_NONE);
	cr_assert_eq(cm_compress_parse("fast", &compress), 0);
	cr_assert_eq(compress, CM_COMPRESS_FAST);
	cr_assert_eq(cm_compress_parse("gzip", &compress), -EINVAL);
	cr_assert_eq(compress, CM_COMPRESS_FAST);
}
