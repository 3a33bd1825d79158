/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark inspect`. */
#include "cli/inspect-options.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "cli/commands.h"

static const char *const sort_names[CM_N_SORTS] = {
	[CM_SORT_TOTAL] = "total", [CM_SORT_CALLS] = "calls",
	[CM_SORT_AVG] = "avg",	   [CM_SORT_MIN] = "min",
	[CM_SORT_MAX] = "max",	   [CM_SORT_NAME] = "name",
	[CM_SORT_LOST] = "lost",   [CM_SORT_IMBALANCE] = "imbalance",
};

static const struct argp_option option_list[] = {
	{"sort", 's', "KEY", 0,
	 "Order by total, calls, avg, min, max, imbalance or lost, largest first, or by name "
	 "(default: total)"},
	{"per-rank", 'p', 0, 0, "Of several ranks: all tables of each rank, too"},
	{"threads", 't', 0, 0,
	 "LIKWID counters of each hardware thread instead of over all of them; of several ranks "
	 "as --per-rank"},
	{"min-max", 'm', 0, 0,
	 "Also the smallest and largest LIKWID counter over hardware threads"},
	{"callers", 'c', 0, 0,
	 "Instead of the tables: from where the regions were entered (of rules with callers=N), "
	 "bottom-up and top-down, summed over the ranks shown"},
	{"json", 'j', 0, 0, "Print JSON with exact numbers instead of tables"},
	{0},
};

static const char documentation[] =
	"Show the regions of a profile: calls, times and percentiles of one rank, or how evenly "
	"several ranks share them, and LIKWID's hardware counters by event group."
	"\v"
	"RE is a POSIX extended regular expression. Times are wall time inside the region, with "
	"everything it calls. `share' is the region's total in relation to the profiled time: for "
	"each thread, from its first start to its last end, summed over threads and ranks; nested "
	"calls count in each region, and recursion can lift a share above 100%. p50, p95 and p99 "
	"are exact where the trace holds every call; a ~ marks an estimate from the histogram of "
	"all calls.\n\n"
	"Of several ranks one table is shown: mean, min and max of the ranks' total times in a "
	"region (0 where a rank did not enter it), the slowest rank, the imbalance max / mean - 1, "
	"and the time lost to it, the sum over ranks of max - own.\n\n"
	"Call trees have the calls and the time of all paths through a node. Bottom-up, a share "
	"is of the region's total, top-down of the total of all regions shown.\n\n"
	"Over hardware threads, call counts and events are summed, the runtime is the longest one "
	"and a metric the mean; only threads that entered the region count.\n\n"
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
			   "--sort '%s': expected total, calls, avg, min, max, imbalance, lost or "
			   "name",
			   text);
}

/* What the options are together. */
static void finish(struct cm_inspect_options *options, const struct argp_state *state)
{
	struct cm_diag diag = {0};

	options->is_brief = !options->per_rank && !options->is_json;
	options->skips_traces = options->has_callers && !options->is_json;
	if (options->has_callers && (options->per_rank || options->has_min_max))
		cm_usage_check(state,
			       cm_diag_set(&diag, -EINVAL,
					   "--callers sums over the ranks shown and has no "
					   "counters: choose a rank with --ranks, not with %s",
					   options->by_thread  ? "--threads"
					   : options->per_rank ? "--per-rank"
							       : "--min-max"),
			       &diag);
	if (options->by_thread && options->has_min_max)
		cm_usage_check(state,
			       cm_diag_set(&diag, -EINVAL,
					   "--min-max is about the extremes over hardware "
					   "threads: not with --threads"),
			       &diag);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_inspect_options *options = state->input;
	struct cm_diag diag = {0};

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->selection;
		return 0;
	case 's':
		cm_usage_check(state, cm_inspect_sort_parse(arg, &options->sort, &diag), &diag);
		return 0;
	case 'p':
		options->per_rank = true;
		return 0;
	case 't':
		options->by_thread = options->per_rank = true;
		return 0;
	case 'm':
		options->has_min_max = true;
		return 0;
	case 'c':
		options->has_callers = true;
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
	case ARGP_KEY_SUCCESS:
		finish(options, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void cm_inspect_options_parse(struct cm_inspect_options *options, int argc, char **argv)
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
	(void)argp_parse(&argp, argc, argv, 0, NULL, options);
}

void cm_inspect_options_fini(struct cm_inspect_options *options)
{
	cm_selection_fini(&options->selection);
}
