/* SPDX-License-Identifier: BSD-3-Clause */
/* Row after row, with outcomes made by hand. */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/suite-check.h"
#include "collector/suite-folder.h"
#include "collector/suite-run.h"
#include "tests/unit/suite-fixture.h"

#define N_ROWS 12

static volatile sig_atomic_t cancelled;
static size_t n_told;
static char folder_path[80];

/* The evidence of a row is there when the next one starts, and when we hear of it. */
static int run_row_and_look(const struct cm_worker_row *row, const char *helper,
			    struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	struct cm_suite_check check;

	cr_assert_eq(cm_suite_check(&check, folder_path, NULL), 0);
	cr_assert_eq(check.n_findings, 0);
	cr_assert_not(check.is_complete);
	cr_assert_eq(check.n_found, n_told);
	cm_suite_check_fini(&check);
	return suite_run_row(row, helper, outcome, diag);
}

static void note_row(void *ctx, const struct cm_bundle *bundle)
{
	cr_assert_eq(ctx, &n_told);
	cr_assert_eq(bundle->row, (int64_t)++n_told);
}

Test(suite_run, each_row_is_kept_before_the_next_one_starts)
{
	struct cm_suite_run how = {.helper = "helper",
				   .run_row = run_row_and_look,
				   .progress = note_row,
				   .ctx = &n_told};
	struct suite_fixture fixture;
	struct cm_suite_tally tally;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, N_ROWS);
	snprintf(folder_path, sizeof(folder_path), "%s", fixture.path);
	cr_assert_eq(cm_suite_run(&how, &fixture.suite, fixture.path, &tally, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(n_told, N_ROWS);
	cr_assert_eq(suite_n_run, N_ROWS - 2); /* two are planned */
	cr_assert_eq(tally.n[CM_ROW_PASS], 2);
	cr_assert_eq(tally.n[CM_ROW_UNAVAILABLE], 4);
	cr_assert_eq(tally.n[CM_ROW_BLOCKED], 2);
	cr_assert_eq(tally.n[CM_ROW_INVALID], 2);
	cr_assert_eq(tally.n[CM_ROW_ERROR], 2);
	suite_fixture_fini(&fixture);
}

static int fail_in_every_way(const struct cm_worker_row *row, const char *helper,
			     struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	static struct cm_counter_record record = {"A", "PMC0", 0, "1", -1};

	cr_assert_not_null(row);
	cr_assert_str_eq(helper, "helper");
	switch (suite_n_run++) {
	case 0:
		return cm_diag_set(diag, -EAGAIN, "no process for it");
	case 1:
		return -ENOMEM;
	case 2:
		return cm_diag_set(diag, -EINVAL, "cpuids: CPU 3 is gone");
	case 3:
		*outcome = suite_outcome(CM_COUNTER_COMPLETE);
		record.value = NAN;
		outcome->window.records = &record;
		outcome->window.n_records = 1;
		return 0;
	default:
		*outcome = suite_outcome(CM_COUNTER_COMPLETE);
		return 0;
	}
}

Test(suite_run, one_row_never_stops_another)
{
	static const char *const reasons[] = {"no process for it", "Cannot allocate memory",
					      "CPU 3 is gone", "negative or not finite", ""};
	struct cm_suite_run how = {.helper = "helper", .run_row = fail_in_every_way};
	struct suite_fixture fixture;
	struct cm_suite_tally tally;
	struct cm_bundle_file *file;
	char path[PATH_MAX];

	suite_fixture_init(&fixture, 5);
	fixture.rows[1].planned = NULL;
	cr_assert_eq(cm_suite_run(&how, &fixture.suite, fixture.path, &tally, NULL), 0);
	cr_assert_eq(tally.n[CM_ROW_ERROR], 4);
	cr_assert_eq(tally.n[CM_ROW_PASS], 1);
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/rows/%04d/row.h5", fixture.path, i + 1);
		cr_assert_eq(cm_bundle_read(&file, path, NULL), 0);
		cr_assert_not_null(strstr(file->bundle.reason, reasons[i]), "%s",
				   file->bundle.reason);
		cr_assert(file->bundle.is_attempted);
		cr_assert_eq(file->bundle.n_observations, i == 4 ? SUITE_N_RECORDS : 0);
		cm_bundle_free(file);
	}
	suite_fixture_fini(&fixture);
}

static int run_row_then_cancel(const struct cm_worker_row *row, const char *helper,
			       struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	cr_assert_eq(row->is_cancelled, &cancelled);
	if (suite_n_run == 3) {
		cancelled = SIGTERM;
		return -EINTR;
	}
	return suite_run_row(row, helper, outcome, diag);
}

Test(suite_run, a_signal_ends_it_and_what_was_done_stays)
{
	struct cm_suite_run how = {
		.helper = "helper", .run_row = run_row_then_cancel, .is_cancelled = &cancelled};
	struct suite_fixture fixture;
	struct cm_suite_tally tally;
	struct cm_suite_check check;

	suite_fixture_init(&fixture, N_ROWS);
	cr_assert_eq(cm_suite_run(&how, &fixture.suite, fixture.path, &tally, NULL), -EINTR);
	cr_assert_eq(cm_suite_check(&check, fixture.path, NULL), 0);
	cr_assert_eq(check.n_findings, 0);
	cr_assert_not(check.is_complete);
	cr_assert_eq(check.n_found, 4); /* three, and a planned one */
	cm_suite_check_fini(&check);
	suite_fixture_fini(&fixture);
}

Test(suite_run, nothing_is_run_when_the_folder_is_there)
{
	struct cm_suite_run how = {.helper = "helper", .run_row = suite_run_row};
	struct suite_fixture fixture;
	struct cm_suite_tally tally;

	suite_fixture_init(&fixture, 1);
	suite_write_file(fixture.folder, "out", "mine", "w");
	cr_assert_eq(cm_suite_run(&how, &fixture.suite, fixture.path, &tally, NULL), -EEXIST);
	cr_assert_eq(suite_n_run, 0);
	suite_fixture_fini(&fixture);
}

static int run_row_and_fill(const struct cm_worker_row *row, const char *helper,
			    struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	/* Nothing can be made in the folder of the rows any more. */
	if (suite_n_run == 1) {
		char rows[PATH_MAX], away[PATH_MAX];

		snprintf(rows, sizeof(rows), "%s/rows", folder_path);
		snprintf(away, sizeof(away), "%s-rows", folder_path);
		cr_assert_eq(rename(rows, away), 0);
	}
	return suite_run_row(row, helper, outcome, diag);
}

Test(suite_run, evidence_that_cannot_be_written_ends_the_run_and_names_the_row)
{
	struct cm_suite_run how = {.helper = "helper", .run_row = run_row_and_fill};
	struct suite_fixture fixture;
	struct cm_suite_tally tally;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, N_ROWS);
	snprintf(folder_path, sizeof(folder_path), "%s", fixture.path);
	cr_assert_eq(cm_suite_run(&how, &fixture.suite, fixture.path, &tally, &diag), -ENOENT);
	cr_assert_not_null(strstr(diag.text, "row 3 (case2/target)"), "%s", diag.text);
	cr_assert_eq(suite_n_run, 2);
	suite_fixture_fini(&fixture);
}

Test(suite_run, a_wrong_declaration_names_the_row_and_the_field)
{
	static const struct cm_event_unit wrong[] = {{"INSTR_RETIRED_ANY", "s"}};
	static const int far[] = {INT_MAX}, twice[] = {0, 0};
	struct suite_fixture fixture;
	struct cm_diag diag = {0};
	struct cm_declaration *declaration;

	suite_fixture_init(&fixture, 1);
	declaration = &fixture.rows[0].worker.declaration;
	declaration->cpuids = far;
	declaration->n_cpuids = 1;
	cr_assert_eq(cm_suite_check_rows(&fixture.suite, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "row 1 (case0/target): cpus: CPU 2147483647"), "%s",
			   diag.text);
	/* A row that is never run may name a CPU that is not there, but not twice. */
	fixture.rows[0].planned = "not here";
	cr_assert_eq(cm_suite_check_rows(&fixture.suite, NULL), 0);
	declaration->cpuids = twice;
	declaration->n_cpuids = 2;
	diag.text[0] = '\0';
	cr_assert_eq(cm_suite_check_rows(&fixture.suite, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "cpus: CPU 0 is there twice"), "%s", diag.text);
	declaration->n_cpuids = 1;
	declaration->units = wrong;
	declaration->n_units = 1;
	declaration->event_set = "INSTR_RETIRED_ANY:FIXC0";
	diag.text[0] = '\0';
	cr_assert_eq(cm_suite_check_rows(&fixture.suite, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "row 1 (case0/target): units: "), "%s", diag.text);
	declaration->event_set = "FLOPS_DP";
	diag.text[0] = '\0';
	cr_assert_eq(cm_suite_check_rows(&fixture.suite, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "row 1 (case0/target): events: "), "%s", diag.text);
	suite_fixture_fini(&fixture);
}
