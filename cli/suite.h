/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to `callmark suite` (suite*.c): what was asked for, and the reports of a folder.
 *
 *	cm_suite_options_parse(&job, argc, argv);      exits with 2
 *	cm_suite_command_run(&job), ..._verify(&job), ..._report(&job)      the exit status
 *
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_SUITE_H
#define CALLMARK_CLI_SUITE_H

#include <stdbool.h>
#include <stdio.h>

#include "collector/suite-check.h"
#include "collector/suite.h"
#include "writer/bundle.h"

enum cm_suite_action {
	CM_SUITE_ACTION_RUN,
	CM_SUITE_ACTION_VERIFY,
	CM_SUITE_ACTION_REPORT,
};

enum cm_suite_format {
	CM_SUITE_JSON,
	CM_SUITE_MARKDOWN,
	CM_SUITE_JUNIT,
};

struct cm_suite_job {
	enum cm_suite_action action;
	const char *path;   /* SUITE.json, or DIR */
	const char *output; /* run: the new folder; report: a file, NULL for stdout */
	bool is_strict;
	bool has_format;
	enum cm_suite_format format;
};

void cm_suite_options_parse(struct cm_suite_job *job, int argc, char **argv);

int cm_suite_command_run(const struct cm_suite_job *job);
int cm_suite_command_verify(const struct cm_suite_job *job);
int cm_suite_command_report(const struct cm_suite_job *job);

/* One line for each finding, on stderr. */
void cm_suite_say_findings(const struct cm_suite_check *check, const char *path);

/* A report while it is written. */
struct cm_suite_report {
	FILE *out;
	const struct cm_suite *suite;
	const struct cm_suite_check *check;
	const char *verdict;
	bool is_failed; /* memory was short */
};

/*
 * Rows come in order; bundle NULL: the row is absent, the suite's declaration has its case and
 * target.
 */
struct cm_suite_reporter {
	void (*begin)(struct cm_suite_report *report);
	void (*row)(struct cm_suite_report *report, size_t row_idx, const struct cm_bundle *bundle);
	/* Once more over all rows; or NULL. */
	void (*details)(struct cm_suite_report *report, size_t row_idx,
			const struct cm_bundle *bundle);
	void (*end)(struct cm_suite_report *report);
};

extern const struct cm_suite_reporter cm_suite_json_reporter;
extern const struct cm_suite_reporter cm_suite_markdown_reporter;
extern const struct cm_suite_reporter cm_suite_junit_reporter;

/* Does the CPU's name say that its counters are simulated? */
bool cm_suite_is_simulated(const struct cm_bundle *bundle);

#endif
