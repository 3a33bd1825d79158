/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark suite`. */
#include <argp.h>
#include <string.h>

#include "cli/suite.h"

enum {
	KEY_STRICT = 0x100,
};

static const struct argp_option options[] = {
	{"output", 'o', "PATH", 0,
	 "run: the new folder for the evidence. report: a file instead of standard output", 0},
	{"strict", KEY_STRICT, NULL, 0,
	 "run: exit with 1, once all is written, when a row is an error, blocked or invalid", 0},
	{"format", 'f', "FORMAT", 0, "report: json, markdown (the default) or junit", 0},
	{0},
};

static void take_format(struct cm_suite_job *job, const char *text, struct argp_state *state)
{
	static const char *const names[] = {
		[CM_SUITE_JSON] = "json",
		[CM_SUITE_MARKDOWN] = "markdown",
		[CM_SUITE_JUNIT] = "junit",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], text))
			break;
	if (i == sizeof(names) / sizeof(*names))
		argp_error(state, "--format=%s: expected json, markdown or junit", text);
	job->format = (enum cm_suite_format)i;
	job->has_format = true;
}

static void take_argument(struct cm_suite_job *job, const char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[CM_SUITE_ACTION_RUN] = "run",
		[CM_SUITE_ACTION_VERIFY] = "verify",
		[CM_SUITE_ACTION_REPORT] = "report",
	};

	if (state->arg_num > 1)
		argp_error(state, "one suite at a time");
	if (state->arg_num == 1) {
		job->path = arg;
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!strcmp(names[i], arg)) {
			job->action = (enum cm_suite_action)i;
			return;
		}
	}
	argp_error(state, "'%s': expected run, verify or report", arg);
}

static void check(const struct cm_suite_job *job, struct argp_state *state)
{
	bool is_run = job->action == CM_SUITE_ACTION_RUN;

	if (state->arg_num < 2)
		argp_error(state, "expected run SUITE.json, verify DIR or report DIR");
	if (is_run && (!job->output || !*job->output))
		argp_error(state, "where to? -o DIR");
	if (!is_run && job->is_strict)
		argp_error(state, "--strict is for run");
	if (job->has_format && job->action != CM_SUITE_ACTION_REPORT)
		argp_error(state, "--format is for report");
	if (job->output && job->action == CM_SUITE_ACTION_VERIFY)
		argp_error(state, "--output is for run and report");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_suite_job *job = state->input;

	switch (key) {
	case 'o':
		job->output = arg;
		return 0;
	case KEY_STRICT:
		job->is_strict = true;
		return 0;
	case 'f':
		take_format(job, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		take_argument(job, arg, state);
		return 0;
	case ARGP_KEY_END:
		check(job, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	options,
	parse_option,
	"run SUITE.json -o DIR\nverify DIR\nreport DIR",
	"Count hardware events in many declared workers, one after another, and keep the evidence "
	"of each; see callmark-suite(5). verify says whether a folder is what run wrote, report "
	"shows what is in it.\v"
	"The exit status of run is 0 when the evidence of all rows is written, whatever came of "
	"them, 1 only with --strict, 2 when the suite is refused or the folder is there (nothing "
	"was run then), 3 when evidence could not be written. That of verify is 0 when all is "
	"there as it was written, 1 when something was changed, is missing or does not belong "
	"there, 3 when the run did not come to its end and what is there is as it was written. "
	"That of report is 0, or 1 when the folder does not verify.",
	NULL,
	NULL,
	NULL};

void cm_suite_options_parse(struct cm_suite_job *job, int argc, char **argv)
{
	job->format = CM_SUITE_MARKDOWN;
	(void)argp_parse(&argp, argc, argv, 0, NULL, job); /* exits on errors */
}
