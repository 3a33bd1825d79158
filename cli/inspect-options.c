/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark inspect`. */
#include "cli/inspect-options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/say.h"

static const char *const sort_names[CM_N_SORTS] = {
	[CM_SORT_TOTAL] = "total", [CM_SORT_CALLS] = "calls", [CM_SORT_AVG] = "avg",
	[CM_SORT_MIN] = "min",	   [CM_SORT_MAX] = "max",     [CM_SORT_NAME] = "name",
};

static const struct argp_option option_list[] = {
	{"include", 'i', "RE", 0, "Only regions whose name RE matches from its start (repeatable)"},
	{"exclude", 'x', "RE", 0, "Without such regions; wins over --include (repeatable)"},
	{"ranks", 'r', "LIST", 0, "Only these ranks, such as 0-3,5 (repeatable)"},
	{"sort", 's', "KEY", 0,
	 "Order by total, calls, avg, min or max, largest first, or by name (default: total)"},
	{"json", 'j', 0, 0, "Print JSON with exact integers instead of tables"},
	{0},
};

static const char documentation[] =
	"Show the regions of a profile: calls, times and percentiles, per rank and over ranks."
	"\v"
	"RE is a POSIX extended regular expression. Times are wall time inside the region, with "
	"everything it calls. `share' is the region's total in relation to the profiled time: for "
	"each thread, from its first start to its last end, summed over threads and ranks; nested "
	"calls count in each region, and recursion can lift a share above 100%. p50, p95 and p99 "
	"are exact where the trace holds every call; a ~ marks an estimate from the histogram of "
	"all calls.\n\n"
	"Exit status: 0, 1 for a file that cannot be read, 2 for wrong options.";

int cm_inspect_sort_parse(const char *text, enum cm_inspect_sort *ret_sort, struct cm_diag *diag)
{
	size_t i;

	for (i = 0; i < CM_N_SORTS; i++) {
		if (strcmp(text, sort_names[i]))
			continue;
		*ret_sort = (enum cm_inspect_sort)i;
		return 0;
	}
	return cm_diag_set(diag, -EINVAL,
			   "--sort '%s': expected total, calls, avg, min, max or name", text);
}

/* cm_say makes what is not printable in the user's own words visible; argp's printers do not. */
static void check(int rc, const struct cm_diag *diag)
{
	if (rc >= 0)
		return;
	cm_say("%s; see `callmark inspect --help'", diag->text);
	exit(CM_EXIT_USAGE);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_inspect_options *options = state->input;
	struct cm_diag diag = {0};

	switch (key) {
	case 'i':
		check(cm_filter_add(&options->filter, CM_FILTER_INCLUDE, arg, &diag), &diag);
		return 0;
	case 'x':
		check(cm_filter_add(&options->filter, CM_FILTER_EXCLUDE, arg, &diag), &diag);
		return 0;
	case 'r':
		check(cm_rank_set_parse(&options->ranks, arg, &diag), &diag);
		return 0;
	case 's':
		check(cm_inspect_sort_parse(arg, &options->sort, &diag), &diag);
		return 0;
	case 'j':
		options->is_json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "one FILE at a time");
		options->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which FILE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cm_inspect_options_parse(struct cm_inspect_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_option,
		.args_doc = "FILE",
		.doc = documentation,
	};

	argp_err_exit_status = CM_EXIT_USAGE;
	/* The parser exits on every error of its own. */
	(void)argp_parse(&argp, argc, argv, 0, NULL, options);
}

void cm_inspect_options_fini(struct cm_inspect_options *options)
{
	cm_filter_fini(&options->filter);
	cm_rank_set_fini(&options->ranks);
}
