/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters are stored and come back: the likwid group of a rank. */
#include <criterion/criterion.h>

#include <hdf5.h>
#include <string.h>

#include "tests/unit/writer-counters.h"

static const struct cm_profile_skip skips[] = {{"migrated", 7}, {"never", 0}, {"unlisted", 1}};

Test(likwid, every_number_and_name_comes_back)
{
	struct cm_profile_counters counters[] = {counters_full,
						 counters_named("solve", 1),
						 counters_named("mpi/MPI_Send", 0),
						 counters_named("two\nlines", 0),
						 counters_named("\xff/x", 0),
						 counters_named("\xfe/x", 0),
						 counters_named("", 0),
						 counters_named("no metrics", 0),
						 counters_named("no names of counters", 0),
						 counters_named("nothing but calls", 0),
						 counters_named("no hardware thread", 0)};
	struct fixture fixture;
	struct cm_results *results;

	counters[7].n_metrics = 0;
	counters[8].counter_names = NULL;
	counters[9].n_events = counters[9].n_metrics = 0;
	counters[10].n_cpus = 0;
	fixture_init(&fixture, 2, 3);
	counters_set(&fixture, counters, sizeof(counters) / sizeof(counters[0]));
	results = counters_store_and_load(&fixture);
	counters_check_rank(&fixture.profile, cm_results_rank(results, 0));
	fixture_check_rank(&fixture, results, 0);
	cm_results_close(results);
	fixture_fini(&fixture);
}

static void check_group(hid_t regions, const char *name, const char *tag, int64_t group_id)
{
	hid_t group = H5Gopen2(regions, name, H5P_DEFAULT), attr, type;
	int64_t got = -1;
	char *text;

	cr_assert_geq(group, 0, "%s", name);
	attr = H5Aopen(group, "group_id", H5P_DEFAULT);
	cr_assert_geq(H5Aread(attr, H5T_NATIVE_INT64, &got), 0);
	cr_assert_eq(got, group_id, "%s", name);
	H5Aclose(attr);
	attr = H5Aopen(group, "tag", H5P_DEFAULT);
	type = H5Aget_type(attr);
	cr_assert_geq(H5Aread(attr, type, &text), 0);
	cr_assert_str_eq(text, tag);
	H5free_memory(text);
	H5Tclose(type);
	H5Aclose(attr);
	H5Gclose(group);
}

Test(likwid, later_groups_of_a_tag_are_numbered)
{
	struct cm_profile_counters counters[] = {counters_named("a/b", 0), counters_named("c", 0),
						 counters_named("a/b", 1), counters_named("c", 1),
						 counters_named("a|b", 0)};
	struct fixture fixture;
	hid_t file, regions;
	H5G_info_t info;

	fixture_init(&fixture, 0, 0);
	counters_set(&fixture, counters, 5);
	cm_results_close(counters_store_and_load(&fixture));
	file = H5Fopen(fixture.path, H5F_ACC_RDONLY, H5P_DEFAULT);
	regions = H5Gopen2(file, "/rank0/likwid/regions", H5P_DEFAULT);
	cr_assert_geq(H5Gget_info(regions, &info), 0);
	cr_assert_eq(info.nlinks, 5);
	check_group(regions, "a|b", "a/b", 0);
	check_group(regions, "a|b#2", "a/b", 1);
	check_group(regions, "a|b#3", "a|b", 0);
	check_group(regions, "c", "c", 0);
	check_group(regions, "c#2", "c", 1);
	H5Gclose(regions);
	H5Fclose(file);
	fixture_fini(&fixture);
}

Test(likwid, what_was_skipped_and_why_it_fell_back_stands_also_without_counters)
{
	struct fixture fixture;
	struct cm_results *results;
	const struct cm_result_rank *rank;

	fixture_init(&fixture, 1, 1);
	results = counters_store_and_load(&fixture);
	rank = cm_results_rank(results, 0);
	cr_assert_not(rank->has_likwid);
	cr_assert_eq(rank->n_skips, 0);
	cr_assert_str_eq(rank->likwid_fallback, "");
	cr_assert_str_eq(rank->likwid_cpu_name, "");
	cm_results_close(results);
	fixture.profile.skips = skips;
	fixture.profile.n_skips = 3;
	fixture.profile.likwid_fallback = "the reader died of signal 11";
	results = counters_store_and_load(&fixture);
	rank = cm_results_rank(results, 0);
	cr_assert_not(rank->has_likwid);
	cr_assert_eq(rank->n_skips, 2, "none that is 0");
	cr_assert_str_eq(rank->skips[0].reason, "migrated");
	cr_assert_eq(rank->skips[0].n, 7);
	cr_assert_str_eq(rank->skips[1].reason, "unlisted");
	cr_assert_str_eq(rank->likwid_fallback, "the reader died of signal 11");
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(likwid, counters_may_be_filled_in_until_commit)
{
	struct fixture fixture;
	struct cm_writer *writer;
	struct cm_results *results;

	fixture_init(&fixture, 0, 0);
	cr_assert_eq(cm_writer_open(&writer, fixture.path, &fixture.profile, NULL, NULL), 0);
	counters_set(&fixture, &counters_full, 1);
	cr_assert_eq(cm_writer_commit(writer, NULL), 0);
	cr_assert_eq(cm_results_open(&results, fixture.path, NULL), 0);
	counters_check_rank(&fixture.profile, cm_results_rank(results, 0));
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(likwid, ranks_that_join_bring_their_counters)
{
	struct cm_profile_counters counters[2][3];
	struct fixture fixture;
	struct cm_results *results;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 5);
	for (int64_t rank = 0; rank < 2; rank++) {
		counters[rank][0] = counters_named(rank ? "other" : "solve", 0);
		counters[rank][1] = counters_named("both", 0);
		counters[rank][1].n_cpus = (size_t)rank + 1;
		counters[rank][2] = counters_named("none", 0);
		counters[rank][2].n_metrics = counters[rank][2].n_events = 0;
		counters_set(&fixture, counters[rank], 3);
		cr_assert_eq(counters_join(&fixture, rank, &diag), 0, "%s", diag.text);
	}
	cr_assert_eq(cm_results_open(&results, fixture.path, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_results_n_ranks(results), 2);
	for (size_t rank = 0; rank < 2; rank++) {
		counters_set(&fixture, counters[rank], 3);
		counters_check_rank(&fixture.profile, cm_results_rank(results, rank));
	}
	cm_results_close(results);
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

static void check_label(const struct cm_profile_counters *counters, size_t i, const char *want)
{
	char buf[64];

	cr_assert_eq(cm_results_event_label(counters, i, buf, sizeof(buf)), buf);
	cr_assert_str_eq(buf, want);
}

Test(likwid, labels_tell_repeated_events_apart)
{
	struct cm_profile_counters counters = counters_full;
	char small[8];

	check_label(&counters, 0, "INSTR_RETIRED_ANY");
	check_label(&counters, 1, "CAS_COUNT_RD:MBOX0C0");
	check_label(&counters, 2, "CAS_COUNT_RD:MBOX1C0");
	counters.counter_names = NULL;
	check_label(&counters, 0, "INSTR_RETIRED_ANY");
	check_label(&counters, 1, "CAS_COUNT_RD#1");
	check_label(&counters, 2, "CAS_COUNT_RD#2");
	cr_assert_str_eq(cm_results_event_label(&counters, 1, small, sizeof(small)), "CAS_COU");
}
