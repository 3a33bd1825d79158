/* SPDX-License-Identifier: BSD-3-Clause */
/* Suites made by hand. */
#include "tests/unit/suite-fixture.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int cpus[] = {0, 3};
static const int allowed[] = {0, 1, 2, 3};
static const struct cm_event_unit units[] = {{"INSTR_RETIRED_ANY", "1"}, {"L2_LINES", "lines"}};
static const struct cm_worker_probe probes[] = {{"has_cache", true}, {"is_quiet", false}};
static const enum cm_worker_probe_state states[] = {CM_PROBE_HELD, CM_PROBE_MISSED};
static const char *const environment[] = {"HOME", "PATH"};
static const char *const added[] = {"CPU_CLK_UNHALTED_CORE:FIXC1"};
static const struct cm_worker_file files[] = {
	{"/data/in", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}};

const double suite_values[SUITE_N_RECORDS] = {0x1p54 + 4, 0.1, 0, 1e300};
size_t suite_n_run;

static const struct cm_counter_record records[SUITE_N_RECORDS] = {
	{"INSTR_RETIRED_ANY", "FIXC0", 0, "1", 0x1p54 + 4},
	{"L2_LINES", "PMC0", 0, "lines", 0.1},
	{"INSTR_RETIRED_ANY", "FIXC0", 3, "1", 0},
	{"L2_LINES", "PMC0", 3, "lines", 1e300},
};

enum cm_counter_status suite_status(size_t row_idx)
{
	static const enum cm_counter_status statuses[SUITE_N_KINDS] = {
		CM_COUNTER_COMPLETE, CM_COUNTER_UNAVAILABLE, CM_COUNTER_UNAVAILABLE,
		CM_COUNTER_BLOCKED,  CM_COUNTER_INVALID,     CM_COUNTER_FAILED,
	};

	return statuses[row_idx % SUITE_N_KINDS];
}

static void make_row(struct cm_suite *suite, struct cm_suite_row *row, size_t i)
{
	row->case_id = cm_arena_format(&suite->arena, "case%zu", i);
	row->target_id = "target";
	row->target_kind = "development";
	row->planned = i % SUITE_N_KINDS == 1 ? "no such machine" : NULL;
	row->worker = (struct cm_worker_row){
		.source = {"/work/row.so", NULL},
		.files = files,
		.n_files = 1,
		.target = {.path = "/lib/target.so.3", .version = "3"},
		.oracle = cm_arena_format(&suite->arena, "%s",
					  cm_counter_status_name(suite_status(i))),
		.is_oracle_required = true,
		.probes = probes,
		.n_probes = 2,
		.declaration = {.event_set = "INSTR_RETIRED_ANY:FIXC0,L2_LINES:PMC0",
				.cpuids = cpus,
				.n_cpuids = 2,
				.units = units,
				.n_units = 2},
		.timeout_s = 7,
	};
}

void suite_fixture_init(struct suite_fixture *fixture, size_t n_rows)
{
	*fixture = (struct suite_fixture){.folder = "/tmp/callmark-suite-XXXXXX"};
	cr_assert_not_null(mkdtemp(fixture->folder));
	snprintf(fixture->path, sizeof(fixture->path), "%s/out", fixture->folder);
	fixture->suite.name = "by hand";
	fixture->suite.text = "{}\n";
	fixture->suite.n_text = 3;
	fixture->rows = cm_arena_array(&fixture->suite.arena, n_rows, sizeof(*fixture->rows));
	cr_assert_not_null(fixture->rows);
	for (size_t i = 0; i < n_rows; i++)
		make_row(&fixture->suite, &fixture->rows[i], i);
	fixture->suite.rows = fixture->rows;
	fixture->suite.n_rows = n_rows;
	suite_n_run = 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

void suite_fixture_fini(struct suite_fixture *fixture)
{
	cr_assert_eq(strncmp(fixture->folder, "/tmp/callmark-suite-", 20), 0);
	cr_assert_eq(nftw(fixture->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
	cm_arena_fini(&fixture->suite.arena);
}

struct cm_worker_outcome suite_outcome(enum cm_counter_status status)
{
	bool has_records = status == CM_COUNTER_COMPLETE || status == CM_COUNTER_INVALID;
	struct cm_worker_outcome outcome = {
		.status = status,
		.reason = status == CM_COUNTER_COMPLETE ? "" : "because",
		.detail = "",
		.window = {.status = has_records ? CM_COUNTER_COMPLETE : CM_COUNTER_UNAVAILABLE,
			   .reason = has_records ? "" : "start_refused",
			   .detail = "",
			   .records = has_records ? records : NULL,
			   .n_records = has_records ? SUITE_N_RECORDS : 0,
			   .allowed_cpuids = allowed,
			   .n_allowed_cpuids = 4,
			   .has_group_time = has_records,
			   .group_time_seconds = has_records ? 0.25 : 0,
			   .access_mode = CM_ACCESS_PERF,
			   .has_perf_pid = true,
			   .perf_pid = 4711,
			   .backend_added_events = added,
			   .n_backend_added_events = 1,
			   .cpu_name = "a CPU",
			   .library = "/lib/liblikwid.so.5"},
		.has_window = has_records,
		.oracle = status == CM_COUNTER_COMPLETE	 ? CM_ORACLE_PASSED
			  : status == CM_COUNTER_INVALID ? CM_ORACLE_FAILED
							 : CM_ORACLE_NOT_CHECKED,
		.probes = states,
		.n_probes = 2,
		.n_warnings = 1,
		.identity = {"aa", "bb", "cc", "dd.so", "3"},
		.diagnostics = {.pid = 4711,
				.wait_status = 256,
				.elapsed_s = 1.5,
				.tail = "out\0err\xff",
				.n_tail = 8,
				.step = "perf_workload",
				.folder = "/work",
				.environment = environment,
				.n_environment = 2,
				.raw = "{\"raw\": true}"},
	};

	return outcome;
}

struct cm_suite_about suite_about(size_t row_idx)
{
	return (struct cm_suite_about){.suite = "by hand",
				       .run_id = SUITE_RUN_ID,
				       .attempt_id = SUITE_ATTEMPT_ID,
				       .row_idx = row_idx,
				       .host = "host",
				       .started = "2026-01-02T03:04:05.000006Z"};
}

int suite_run_row(const struct cm_worker_row *row, const char *helper,
		  struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	suite_n_run++;
	cr_assert_str_eq(helper, "helper");
	for (int i = 0; i <= CM_COUNTER_FAILED; i++) {
		enum cm_counter_status status = (enum cm_counter_status)i;

		if (!strcmp(row->oracle, cm_counter_status_name(status))) {
			*outcome = suite_outcome(status);
			return 0;
		}
	}
	return cm_diag_set(diag, -EAGAIN, "no process for it");
}

void suite_write_file(const char *folder, const char *name, const char *text, const char *mode)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, mode);
	cr_assert_not_null(file, "%s", path);
	fputs(text, file);
	cr_assert_eq(fclose(file), 0);
}
