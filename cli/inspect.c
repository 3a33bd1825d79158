/* SPDX-License-Identifier: BSD-3-Clause */
/* `callmark inspect`: read a profile, work out its numbers, print them. */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/guard.h"
#include "cli/inspect-json.h"
#include "cli/inspect-model.h"
#include "cli/inspect-options.h"
#include "cli/inspect-report.h"
#include "cli/say.h"

static int print_report(const char *path, const struct cm_inspection *inspection)
{
	struct cm_report report = {.out = stdout, .path = path, .inspection = inspection};
	size_t i;
	int rc;

	cm_terminal_init(&report.terminal, stdout);
	rc = cm_report_header(&report);
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

	cm_guard_arm(options->path, CM_GUARD_SECONDS);
	rc = cm_results_open(&results, options->path, &diag);
	if (rc >= 0)
		rc = cm_inspection_build(&inspection, results, options, &diag);
	cm_guard_disarm();
	if (rc < 0)
		goto out;
	if (options->is_json)
		rc = cm_inspect_json(stdout, options->path, &inspection);
	else
		rc = print_report(options->path, &inspection);
out:
	if (rc < 0 && strstr(diag.text, options->path))
		cm_say("%s", diag.text);
	else if (rc < 0)
		cm_say("%s: %s", options->path, *diag.text ? diag.text : strerror(-rc));
	cm_inspection_fini(&inspection);
	/* The library may crash on a damaged file even now: nothing may be lost in a buffer. */
	(void)fflush(stdout); /* main looks at ferror */
	cm_guard_arm(options->path, CM_GUARD_SECONDS);
	cm_results_close(results);
	cm_guard_disarm();
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
