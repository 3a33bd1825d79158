/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "tests/unit/counters-fixture.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/environment.h"

char counters_dir[64];
char counters_spool[96];
char counters_marker_file[96];
static char reader_path[96];
struct spool_maker counters_maker;
struct cm_spool_reader counters_reader;
struct cm_profile counters_profile;
char counters_said[2048]; /* on stderr */

void counters_setup(void)
{
	char variable[128];

	spool_maker_tempdir(counters_dir, sizeof(counters_dir));
	snprintf(counters_spool, sizeof(counters_spool), "%s/4242-1", counters_dir);
	snprintf(counters_marker_file, sizeof(counters_marker_file), "%s/markers", counters_dir);
	snprintf(reader_path, sizeof(reader_path), "%s/reader", counters_dir);
	spool_maker_init(&counters_maker, counters_spool, CM_CLOCK_MONOTONIC);
	spool_maker_identity(&counters_maker, "run", "out.h5");
	snprintf(variable, sizeof(variable), "LIKWID_FILEPATH=%s", counters_marker_file);
	spool_maker_env(&counters_maker, variable);
	spool_maker_env(&counters_maker, "LIKWID_EVENTS=FLOPS_DP|A:PMC0");
	spool_maker_env(&counters_maker, "PATH=/usr/bin:/bin");
	spool_maker_region(&counters_maker, 0, "solve/with a long name", UINT64_MAX);
	spool_maker_region(&counters_maker, 1, "other", UINT64_MAX);
	memset(&counters_profile, 0, sizeof(counters_profile));
	*counters_said = '\0';
	cr_assert_eq(setenv(CM_ENV_READER, reader_path, 1), 0);
	cr_assert_eq(unsetenv(CM_ENV_READER_TIMEOUT), 0);
}

void counters_teardown(void)
{
	spool_maker_fini(&counters_maker);
	spool_maker_remove(counters_dir);
}

void counters_add_state(uint32_t state, const char *reason)
{
	struct cm_spool_counters_item item = {.state = state, .n_groups = 2};

	spool_maker_item(&counters_maker, CM_ITEM_COUNTERS, &item, sizeof(item),
			 "/lib/liblikwid.so.5", reason, NULL);
}

void counters_add_marker(uint32_t marker, uint32_t region, const char *tag)
{
	struct cm_spool_marker_item item = {.marker = marker, .region = region};

	spool_maker_item(&counters_maker, CM_ITEM_MARKER, &item, sizeof(item), tag, NULL);
}

void counters_add_snapshot(uint32_t marker, uint32_t group, uint64_t count, double value)
{
	struct {
		struct cm_spool_snapshot_item head;
		double events[2];
	} item = {.head = {.marker = marker,
			   .cpu = 3,
			   .group = group,
			   .n_events = 2,
			   .count = count,
			   .seconds = 0.5},
		  .events = {value, value + 1}};

	spool_maker_item(&counters_maker, CM_ITEM_SNAPSHOT, &item, sizeof(item), NULL);
}

/* The usual: closed, two tags of ours and one of the program. */
void counters_add_closed(void)
{
	counters_add_state(CM_COUNTERS_CLOSED, "");
	counters_add_marker(0, 0, "solve/with~1");
	counters_add_marker(1, 1, "other");
	counters_add_marker(2, UINT32_MAX, "own");
}

void counters_write_text(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	size_t n = strlen(text);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, n), (ssize_t)n);
	close(fd);
}

/* $2 is the result's path, $4 the library. */
void counters_set_script(const char *script)
{
	char text[4096];

	snprintf(
		text, sizeof(text),
		"#!/bin/sh\nset -e\nresult=$2\nmake() { cat >\"$result.tmp\" <<E\n"
		"{\"callmark_reader\":1,\"cpu\":\"Zen\",\"groups\":[{\"id\":0,\"name\":\"FLOPS_"
		"DP\","
		"\"events\":[\"E\"],\"counters\":[\"PMC0\"],\"metrics\":[\"CPI\"]}],\"regions\":["
		"{\"tag\":\"solve/with~1\",\"group\":0,\"cpus\":[1],\"times\":[0.5],\"counts\":[4],"
		"\"events\":[[17.5]],\"metrics\":[[2]]},"
		"{\"tag\":\"own\",\"group\":0,\"cpus\":[1],\"times\":[0.5],\"counts\":[4],"
		"\"events\":[[18]],\"metrics\":[[3]]}],\"complete\":true}\nE\n"
		"mv \"$result.tmp\" \"$result\"; }\n%s\n",
		script);
	counters_write_text(reader_path, text, 0700);
}

void counters_set_marker_file(void)
{
	counters_write_text(counters_marker_file,
			    "2 2 2\n0:solve/with~1-0\n1:own-1\n"
			    "0 0 0 0 0.0 2 0.0 0.0 \n0 0 1 4 5.0e-01 2 8.0 9.0 \n"
			    "1 1 -1 0 0.0 1 0.0 \n1 1 1 2 1.0 1 nan \n",
			    0600);
}

/* The whole ladder; what it says on stderr is kept. */
void counters_collect(void)
{
	struct cm_counters *counters;
	struct cm_diag diag = {0};
	char path[128];
	int fd, old = dup(STDERR_FILENO);
	ssize_t n;

	spool_maker_process(&counters_maker);
	cr_assert_eq(cm_spool_reader_open(&counters_reader, counters_spool, &diag), 0, "%s",
		     diag.text);
	snprintf(path, sizeof(path), "%s/stderr", counters_dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && old >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	cr_assert_eq(cm_counters_start(&counters, &counters_reader, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_counters_finish(counters, &counters_profile, true, &diag), 0, "%s",
		     diag.text);
	cm_counters_free(counters);
	cr_assert_geq(dup2(old, STDERR_FILENO), 0);
	n = pread(fd, counters_said, sizeof(counters_said) - 1, 0);
	counters_said[n > 0 ? n : 0] = '\0';
	close(fd);
	close(old);
	/* Whatever happened, nothing is left in the counters_spool. */
	cr_assert_lt(faccessat(counters_reader.dir_fd, "counters.json", F_OK, 0), 0);
	cr_assert_lt(faccessat(counters_reader.dir_fd, "counters.json.tmp", F_OK, 0), 0);
}

void counters_expect_full(void)
{
	cr_assert(counters_profile.has_likwid);
	cr_assert_eq(counters_profile.n_counters, 2);
	cr_assert_str_eq(counters_profile.counters[0].source, "full_api");
	cr_assert_str_eq(counters_profile.counters[0].tag, "solve/with a long name");
	cr_assert_eq(counters_profile.counters[0].events[0], 17.5);
	cr_assert_str_eq(counters_profile.counters[1].tag, "own");
	cr_assert_str_eq(counters_profile.likwid_cpu_name, "Zen");
	cr_assert_null(counters_profile.likwid_fallback);
	cr_assert_str_empty(counters_said);
	cm_spool_reader_close(&counters_reader);
}

/* From the marker file, and one line that holds `why`. */
void counters_expect_file(const char *why)
{
	const struct cm_profile_counters *counters = counters_profile.counters;

	cr_assert(counters_profile.has_likwid);
	cr_assert_eq(counters_profile.n_counters, 2);
	cr_assert_str_eq(counters[0].source, "marker_file");
	cr_assert_str_eq(counters[0].tag, "solve/with a long name");
	cr_assert_str_eq(counters[0].group_name, "FLOPS_DP");
	cr_assert_eq(counters[0].n_cpus, 1, "registered only: it took no part");
	cr_assert_eq(counters[0].cpus[0], 1);
	cr_assert_eq(counters[0].call_counts[0], 4);
	cr_assert_eq(counters[0].times[0], 0.5);
	cr_assert_eq(counters[0].n_events, 2);
	cr_assert_eq(counters[0].events[1], 9);
	cr_assert_str_eq(counters[0].event_names[1], "event_1");
	cr_assert_null(counters[0].counter_names);
	cr_assert_eq(counters[0].n_metrics, 0);
	cr_assert_str_eq(counters[1].tag, "own");
	cr_assert_str_eq(counters[1].group_name, "Custom");
	cr_assert_eq(counters[1].group_id, 1);
	cr_assert(counters[1].events[0] != counters[1].events[0]);
	cr_assert(strstr(counters_profile.likwid_fallback, why), "%s",
		  counters_profile.likwid_fallback);
	cr_assert_eq(strncmp(counters_said, "callmark: ", 10), 0, "%s", counters_said);
	cr_assert(strstr(counters_said, counters_profile.likwid_fallback));
	cr_assert_eq(strchr(counters_said, '\n'), counters_said + strlen(counters_said) - 1,
		     "one line: %s", counters_said);
	cm_spool_reader_close(&counters_reader);
}
