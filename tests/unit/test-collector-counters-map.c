/* SPDX-License-Identifier: BSD-3-Clause */
/* The last rung, what never comes, tags, environment. */
#include "collector/counters.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "preload/environment.h"
#include "tests/unit/counters-fixture.h"

TestSuite(counters_map, .init = counters_setup, .fini = counters_teardown, .timeout = 30);

Test(counters_map, come_from_the_snapshots_when_there_is_no_marker_file)
{
	counters_add_closed();
	counters_add_snapshot(0, 0, 5, 100);
	counters_add_snapshot(1, 0, 0, 200); /* never entered */
	counters_add_snapshot(2, 1, 6, 300);
	counters_set_script("exit 1");
	counters_collect();
	cr_assert_eq(counters_profile.n_counters, 2);
	cr_assert_str_eq(counters_profile.counters[0].source, "marker_api");
	cr_assert_str_eq(counters_profile.counters[0].tag, "solve/with a long name");
	cr_assert_eq(counters_profile.counters[0].n_cpus, 1);
	cr_assert_eq(counters_profile.counters[0].cpus[0], 3);
	cr_assert_eq(counters_profile.counters[0].call_counts[0], 5);
	cr_assert_eq(counters_profile.counters[0].events[1], 101);
	cr_assert_str_eq(counters_profile.counters[1].tag, "own");
	cr_assert_str_eq(counters_profile.counters[1].group_name, "Custom");
	cr_assert(strstr(counters_profile.likwid_fallback, counters_marker_file), "%s",
		  counters_profile.likwid_fallback);
	cr_assert(strstr(counters_said, "before its end"), "%s", counters_said);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, that_a_damaged_marker_file_lacks_come_from_the_snapshots)
{
	counters_add_closed();
	counters_add_snapshot(0, 0, 5, 100);
	counters_add_snapshot(1, 0, 7, 200);
	counters_write_text(counters_marker_file,
			    "1 2 1\n0:solve/with~1-0\n1:other-0\n0 0 1 4 0.5 2 8.0 9.0 \n1 0 1 4 0",
			    0600);
	counters_set_script("exit 1");
	counters_collect();
	cr_assert_eq(counters_profile.n_counters, 2);
	cr_assert_str_eq(counters_profile.counters[0].source, "marker_file");
	cr_assert_eq(counters_profile.counters[0].call_counts[0], 4);
	cr_assert_str_eq(counters_profile.counters[1].source, "marker_api");
	cr_assert_str_eq(counters_profile.counters[1].tag, "other");
	cr_assert(strstr(counters_profile.likwid_fallback, "cut off"), "%s",
		  counters_profile.likwid_fallback);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, of_a_run_without_any_source_are_an_empty_group_with_a_reason)
{
	counters_add_closed();
	counters_set_script("exit 1");
	counters_collect();
	cr_assert(counters_profile.has_likwid);
	cr_assert_eq(counters_profile.n_counters, 0);
	cr_assert(strstr(counters_said, "there are no counters"), "%s", counters_said);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, are_not_asked_for_where_no_marker_was_opened)
{
	counters_add_state(CM_COUNTERS_EMPTY, "");
	counters_set_script("make");
	counters_collect();
	cr_assert(counters_profile.has_likwid);
	cr_assert_eq(counters_profile.n_counters, 0);
	cr_assert_null(counters_profile.likwid_fallback);
	cr_assert_str_empty(counters_said);
	/* Every LIKWID_* variable, and no other. */
	cr_assert_eq(counters_profile.n_likwid_environment, 2);
	cr_assert_str_eq(counters_profile.likwid_environment[1].name, "LIKWID_EVENTS");
	cr_assert_str_eq(counters_profile.likwid_environment[1].string, "FLOPS_DP|A:PMC0");
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, of_a_lost_daemon_are_the_snapshots_and_the_reason)
{
	counters_add_state(CM_COUNTERS_LOST, "the access daemon was gone");
	counters_add_marker(0, 0, "solve/with~1");
	counters_add_snapshot(0, 0, 5, 100);
	counters_set_script("make");
	counters_set_marker_file();
	counters_collect();
	cr_assert_eq(counters_profile.n_counters, 1);
	cr_assert_str_eq(counters_profile.counters[0].source, "marker_api");
	cr_assert_str_eq(counters_profile.likwid_fallback, "the access daemon was gone");
	cm_spool_reader_close(&counters_reader);
}

static void expect_note(const char *text)
{
	const char *note;
	int rc = 0;

	counters_collect();
	note = cm_counters_note(&counters_reader, &rc);
	cr_assert_eq(rc, 0);
	cr_assert_not(counters_profile.has_likwid);
	cr_assert_str_empty(counters_said);
	if (text)
		cr_assert_str_eq(note, text);
	else
		cr_assert_null(note);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, of_a_killed_process_are_a_note)
{
	counters_add_state(CM_COUNTERS_ARMED, "");
	counters_set_script("make");
	expect_note("no hardware counters: the process ended before its markers were closed");
}

Test(counters_map, that_were_refused_are_a_note_with_the_reason)
{
	counters_add_state(CM_COUNTERS_ARMED, "");
	counters_add_state(CM_COUNTERS_REFUSED, "no liblikwid found");
	expect_note("no hardware counters: no liblikwid found");
}

Test(counters_map, of_an_ordinary_run_are_nothing)
{
	counters_set_script("make");
	expect_note(NULL);
}

Test(counters_map, reader_gets_what_likwid_needs_and_nothing_else)
{
	static const char expected[] = "HOME HWLOC_XMLFILE=/x LD_LIBRARY_PATH=/l "
				       "LD_PRELOAD=/a/libfirst.so:libother.so "
				       "LIKWID_EVENTS=FLOPS_DP|A:PMC0 ";
	char script[512], path[96], text[1024] = "";
	int fd;

	spool_maker_env(&counters_maker, "LD_PRELOAD=/x/libcallmark-preload.so:/a/libfirst.so "
					 "liblikwidpin.so:/usr/lib/libasan.so.8:libother.so");
	spool_maker_env(&counters_maker, "LD_LIBRARY_PATH=/l");
	spool_maker_env(&counters_maker, "HWLOC_XMLFILE=/x");
	spool_maker_env(&counters_maker, "OMPI_COMM_WORLD_RANK=3");
	spool_maker_env(&counters_maker, "CALLMARK_SYMBOLS=x");
	snprintf(path, sizeof(path), "%s/env", counters_dir);
	/* Without the variables of the shell itself. */
	snprintf(script, sizeof(script),
		 "unset PWD OLDPWD SHLVL; env 2>/dev/null | grep -v '^_=\\|^PATH=\\|^LIKWID_FILEP' "
		 "| "
		 "sed 's/^HOME=.*/HOME/' | sort | tr '\\n' ' ' >%s; make",
		 path);
	counters_add_closed();
	counters_set_script(script);
	cr_assert_eq(setenv("SECRET", "1", 1), 0);
	cr_assert_eq(setenv("HOME", "/root", 1), 0);
	counters_collect();
	counters_expect_full();
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	cr_assert_str_eq(text, expected);
}

Test(counters_map, reader_is_ended_when_the_profile_is_given_up)
{
	struct timespec before, after;
	struct cm_counters *counters;
	struct cm_diag diag = {0};

	counters_add_closed();
	counters_set_script("make; exec sleep 1000");
	spool_maker_process(&counters_maker);
	cr_assert_eq(cm_spool_reader_open(&counters_reader, counters_spool, &diag), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	cr_assert_eq(cm_counters_start(&counters, &counters_reader, &diag), 0);
	cm_counters_free(counters);
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_leq(after.tv_sec - before.tv_sec, 10);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, skips_stand_in_the_profile_by_reason)
{
	struct cm_spool_skips_item item = {
		.n = {[CM_MARKER_SKIP_BUSY] = 7, [CM_MARKER_SKIP_LATE] = UINT64_MAX, [15] = 3}};

	spool_maker_item(&counters_maker, CM_ITEM_SKIPS, &item, sizeof(item), NULL);
	counters_collect();
	cr_assert_eq(cm_counters_add_skips(&counters_profile, &counters_reader), 0);
	cr_assert_eq(counters_profile.n_skips, 2);
	cr_assert_str_eq(counters_profile.skips[0].reason, "busy");
	cr_assert_eq(counters_profile.skips[0].n, 7);
	cr_assert_str_eq(counters_profile.skips[1].reason, "late");
	cr_assert_eq(counters_profile.skips[1].n, INT64_MAX);
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, items_that_make_no_sense_are_passed_over)
{
	struct cm_spool_snapshot_item short_one = {.marker = 0, .n_events = 1000, .count = 1};
	struct cm_spool_marker_item beyond = {.marker = UINT32_MAX, .region = 0};

	counters_add_closed();
	counters_add_snapshot(77, 0, 1, 1); /* no such marker */
	spool_maker_item(&counters_maker, CM_ITEM_SNAPSHOT, &short_one, sizeof(short_one), NULL);
	spool_maker_item(&counters_maker, CM_ITEM_MARKER, &beyond, sizeof(beyond), "x", NULL);
	counters_add_marker(4, 4711, "no such region"); /* and none between */
	counters_add_snapshot(4, 9, 1, 1);
	counters_add_snapshot(3, 0, 1, 1);
	counters_set_script("exit 1");
	counters_collect();
	cr_assert_eq(counters_reader.n_bad_items, 3);
	cr_assert_eq(counters_profile.n_counters, 1);
	cr_assert_str_eq(counters_profile.counters[0].tag, "no such region");
	cr_assert_str_eq(counters_profile.counters[0].group_name, "");
	cm_spool_reader_close(&counters_reader);
}

Test(counters_map, timeout_that_is_no_number_is_told)
{
	counters_add_closed();
	counters_set_script("make");
	cr_assert_eq(setenv(CM_ENV_READER_TIMEOUT, "soon", 1), 0);
	counters_collect();
	cr_assert(strstr(counters_said, "CALLMARK_READER_TIMEOUT=soon: expected seconds"), "%s",
		  counters_said);
	cr_assert_eq(counters_profile.n_counters, 2);
	cm_spool_reader_close(&counters_reader);
}
