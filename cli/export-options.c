/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark export`. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/export.h"

enum {
	KEY_WHAT = 0x100,
};

static const struct argp_option option_list[] = {
	{"format", 'f', "FORMAT", 0, "csv (default) or json", 0},
	{"what", KEY_WHAT, "TABLE", 0,
	 "likwid, regions, calls or callers (default: likwid where there are counters, else "
	 "regions)",
	 0},
	{"output", 'o', "OUT", 0, "Write to OUT instead of standard output", 0},
	{0},
};

static const char documentation[] =
	"Write what a profile holds as one table for other programs."
	"\v"
	"likwid: a row for each rank, region, event group and hardware thread, a column for each "
	"event and metric. regions: a row for each rank and region with its statistics. calls: a "
	"row for each recorded call. callers: a row for each rank, region and call path, of rules "
	"with callers=N.\n\n"
	"CSV has CRLF line ends and quotes (RFC 4180), JSON is an array of objects, one a line. "
	"Numbers are exact. OUT is complete, or it is left as it was.\n\n"
	"Exit status: 0, 1 for a file that cannot be read or written, 2 for wrong options.";

static const char *const format_names[] = {[CM_EXPORT_CSV] = "csv", [CM_EXPORT_JSON] = "json"};
static const char *const table_names[] = {
	[CM_EXPORT_LIKWID] = "likwid",
	[CM_EXPORT_REGIONS] = "regions",
	[CM_EXPORT_CALLS] = "calls",
	[CM_EXPORT_CALLERS] = "callers",
};

/* The index of the name, or n. */
static size_t find(const char *const *names, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i] && !strcmp(names[i], name))
			break;
	return i;
}

static int parse_format(struct cm_export *job, const char *text, struct cm_diag *diag)
{
	size_t i = find(format_names, CM_EXPORT_JSON + 1, text);

	if (i > CM_EXPORT_JSON)
		return cm_diag_set(diag, -EINVAL, "--format '%s': expected csv or json", text);
	job->format = (enum cm_export_format)i;
	return 0;
}

static int parse_table(struct cm_export *job, const char *text, struct cm_diag *diag)
{
	size_t i = find(table_names, CM_N_EXPORTS, text);

	if (i == CM_N_EXPORTS)
		return cm_diag_set(diag, -EINVAL,
				   "--what '%s': expected likwid, regions, calls or callers", text);
	job->what = (enum cm_export_what)i;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_export *job = state->input;
	struct cm_diag diag = {0};

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &job->selection;
		return 0;
	case 'f':
		cm_usage_check(state, parse_format(job, arg, &diag), &diag);
		return 0;
	case KEY_WHAT:
		cm_usage_check(state, parse_table(job, arg, &diag), &diag);
		return 0;
	case 'o':
		job->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (job->path)
			argp_error(state, "one FILE at a time");
		job->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cm_export_options_parse(struct cm_export *job, int argc, char **argv)
{
	static const struct argp_child children[] = {{&cm_selection_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "FILE",
		.doc = documentation,
		.children = children,
	};

	argp_err_exit_status = CM_EXIT_USAGE;
	/* The parser exits on every error of its own. */
	(void)argp_parse(&argp, argc, argv, 0, NULL, job);
}
