/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark inspect`: read a profile, work out its numbers, print them. */
#include <locale.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/guard.h"
#include "cli/input.h"
#include "cli/inspect-json.h"
#include "cli/inspect-model.h"
#include "cli/inspect-options.h"
#include "cli/inspect-report.h"

static int print_report(const struct cm_inspect_options *options,
			const struct cm_inspection *inspection)
{
	struct cm_report report = {
		.out = stdout,
		.path = options->path,
		.inspection = inspection,
		.by_thread = options->by_thread,
		.has_min_max = options->has_min_max,
		.is_brief = options->is_brief,
	};
	size_t i;
	int rc;

	cm_terminal_init(&report.terminal, stdout);
	rc = cm_report_header(&report);
	if (rc >= 0)
		rc = cm_report_ranks(&report);
	if (!options->is_brief || inspection->n_sections < 2)
		for (i = 0; rc >= 0 && i < inspection->n_sections; i++)
			rc = cm_report_section(&report, &inspection->sections[i]);
	return rc < 0 ? rc : cm_report_legend(&report);
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
	if (rc < 0)
		goto out;
	if (options->is_json)
		rc = cm_inspect_json(stdout, options->path, &inspection);
	else
		rc = print_report(options, &inspection);
out:
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
