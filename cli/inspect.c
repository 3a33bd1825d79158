/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark inspect`: read a profile, work out its numbers, print them. */
#include <locale.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/inspect-callers.h"
#include "cli/inspect-json.h"
#include "cli/inspect-model.h"
#include "cli/inspect-options.h"
#include "cli/inspect-report.h"

static void init_report(struct cm_report *report, const struct cm_inspect_options *options,
			const struct cm_inspection *inspection)
{
	*report = (struct cm_report){
		.out = stdout,
		.path = options->path,
		.inspection = inspection,
		.by_thread = options->by_thread,
		.has_min_max = options->has_min_max,
		.is_brief = options->is_brief,
	};
	cm_terminal_init(&report->terminal, stdout);
}

static int print_report(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	size_t i;
	int rc;

	rc = cm_report_header(report);
	if (rc >= 0)
		rc = cm_report_ranks(report);
	if (!report->is_brief || inspection->n_sections < 2)
		for (i = 0; rc >= 0 && i < inspection->n_sections; i++)
			rc = cm_report_section(report, &inspection->sections[i]);
	return rc < 0 ? rc : cm_report_legend(report);
}

static int print_callers(const struct cm_report *report, const struct cm_call_trees *trees)
{
	int rc = cm_report_header(report);

	return rc < 0 ? rc : cm_report_callers(report, trees);
}

static int print(const struct cm_inspect_options *options, const struct cm_inspection *inspection)
{
	struct cm_call_trees trees = {0};
	struct cm_report report;
	int rc = 0;

	if (options->has_callers)
		rc = cm_call_trees_build(&trees, inspection->results, &options->selection,
					 options->sort);
	init_report(&report, options, inspection);
	if (rc >= 0 && options->is_json)
		rc = cm_inspect_json(stdout, options->path, inspection,
				     options->has_callers ? &trees : NULL);
	else if (rc >= 0)
		rc = options->has_callers ? print_callers(&report, &trees) : print_report(&report);
	cm_call_trees_fini(&trees);
	return rc;
}

static int inspect(const struct cm_inspect_options *options)
{
	struct cm_inspection inspection = {0};
	struct cm_results *results = NULL;
	struct cm_diag diag = {0};
	int rc;

	rc = cm_input_open(&results, options->path, &diag);
	if (rc >= 0)
		rc = cm_inspection_build(&inspection, results, options, &diag);
	cm_guard_disarm();
	if (rc >= 0)
		rc = print(options, &inspection);
	if (rc < 0)
		cm_input_complain(options->path, rc, &diag);
	cm_inspection_fini(&inspection);
	cm_input_close(results, options->path);
	return rc < 0 ? CM_EXIT_FAILED : CM_EXIT_OK;
}

int cm_cmd_inspect(int argc, char **argv)
{
	struct cm_inspect_options options = {0};
	int status;

	/* Tags are UTF-8 whatever the user's locale is: `.` and [[:alpha:]] mean characters. */
	setlocale(LC_CTYPE, "C.UTF-8");
	cm_inspect_options_parse(&options, argc, argv);
	status = inspect(&options);
	cm_inspect_options_fini(&options);
	return status;
}
