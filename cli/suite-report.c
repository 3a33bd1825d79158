/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark suite report`: a folder that verifies, row by row, to one of the reporters. */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output-file.h"
#include "cli/say.h"
#include "cli/suite-parse.h"
#include "cli/suite.h"
#include "collector/suite-folder.h"

bool cm_suite_is_simulated(const struct cm_bundle *bundle)
{
	return bundle && bundle->is_attempted && strcasestr(bundle->cpu_name, "simulated");
}

typedef void show_row(struct cm_suite_report *report, size_t row_idx,
		      const struct cm_bundle *bundle);

/* All rows; of those after the last that is there, the declaration only. */
static int show_rows(struct cm_suite_report *report, const char *path, show_row *show,
		     struct cm_diag *diag)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < report->suite->n_rows; i++) {
		struct cm_bundle_file *file = NULL;
		struct cm_arena arena = {0};
		const char *name = cm_suite_row_path(i, CM_SUITE_ROW_H5_NAME, &arena);
		const char *row = name ? cm_arena_format(&arena, "%s/%s", path, name) : NULL;

		rc = row ? 0 : -ENOMEM;
		if (rc == 0 && i < report->check->n_found)
			rc = cm_bundle_read(&file, row, diag);
		if (rc == 0)
			show(report, i, file ? &file->bundle : NULL);
		cm_bundle_free(file);
		cm_arena_fini(&arena);
	}
	return rc;
}

static int write_report(struct cm_suite_report *report, const struct cm_suite_job *job,
			struct cm_diag *diag)
{
	static const struct cm_suite_reporter *const reporters[] = {
		[CM_SUITE_JSON] = &cm_suite_json_reporter,
		[CM_SUITE_MARKDOWN] = &cm_suite_markdown_reporter,
		[CM_SUITE_JUNIT] = &cm_suite_junit_reporter,
	};
	const struct cm_suite_reporter *reporter = reporters[job->format];
	int rc;

	reporter->begin(report);
	rc = show_rows(report, job->path, reporter->row, diag);
	if (rc == 0 && reporter->details)
		rc = show_rows(report, job->path, reporter->details, diag);
	reporter->end(report);
	return rc == 0 && report->is_failed ? -ENOMEM : rc;
}

/* The declaration that the folder has; the check has found it unchanged. */
static int open_suite(struct cm_suite *suite, const struct cm_suite_job *job,
		      const struct cm_suite_check *check, struct cm_diag *diag)
{
	struct cm_arena arena = {0};
	const char *path = cm_arena_format(&arena, "%s/" CM_SUITE_JSON_NAME, job->path);
	int rc = path ? cm_suite_parse_file(suite, path, diag) : -ENOMEM;

	if (rc == 0 && suite->n_rows != check->n_rows)
		rc = cm_diag_set(diag, -EINVAL, "%s: has another number of rows than the run",
				 path);
	cm_arena_fini(&arena);
	return rc;
}

/* Rows that are absent are as good as unavailable. */
static const char *verdict_of(const struct cm_suite_check *check)
{
	struct cm_suite_tally tally = check->tally;

	for (size_t i = check->n_found; i < check->n_rows; i++)
		cm_suite_tally_add(&tally, CM_ROW_UNAVAILABLE, "", 0, false);
	return cm_suite_verdict_name(cm_suite_tally_verdict(&tally));
}

static int report_folder(const struct cm_suite_job *job, const struct cm_suite_check *check)
{
	struct cm_suite suite = {0};
	struct cm_suite_report report = {
		.suite = &suite, .check = check, .verdict = verdict_of(check)};
	struct cm_output output;
	struct cm_diag diag = {0};
	int rc = open_suite(&suite, job, check, &diag);

	if (rc == 0)
		rc = cm_output_open(&output, job->output, &diag);
	if (rc == 0) {
		report.out = output.out;
		rc = write_report(&report, job, &diag);
		if (rc == 0)
			rc = cm_output_commit(&output, &diag);
		else
			cm_output_abort(&output);
	}
	if (rc < 0)
		cm_say("%s", diag.text[0] ? diag.text : strerror(-rc));
	cm_suite_free(&suite);
	return rc < 0 ? CM_EXIT_FAILED : CM_EXIT_OK;
}

int cm_suite_command_report(const struct cm_suite_job *job)
{
	struct cm_suite_check check;
	struct cm_diag diag = {0};
	int status = CM_EXIT_FAILED;

	if (cm_suite_check(&check, job->path, &diag) < 0) {
		cm_say("%s", diag.text);
	} else if (check.n_findings) {
		cm_suite_say_findings(&check, job->path);
		cm_say("%s: no report of what was changed", job->path);
	} else {
		if (!check.is_complete)
			cm_say("%s: the run did not come to its end; %zu of %zu rows are there",
			       job->path, check.n_found, check.n_rows);
		status = report_folder(job, &check);
	}
	cm_suite_check_fini(&check);
	return status;
}
