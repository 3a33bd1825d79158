/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `callmark inspect`. */
#ifndef CALLMARK_CLI_INSPECT_OPTIONS_H
#define CALLMARK_CLI_INSPECT_OPTIONS_H

#include <stdbool.h>

#include "cli/selection.h"
#include "preload/diag.h"

enum cm_inspect_sort {
	CM_SORT_TOTAL, /* this and all others but the last: largest first */
	CM_SORT_CALLS,
	CM_SORT_AVG,
	CM_SORT_MIN,
	CM_SORT_MAX,
	CM_SORT_IMBALANCE, /* these two: of the table over ranks; the others as by total */
	CM_SORT_LOST,
	CM_SORT_NAME, /* in byte order */
	CM_N_SORTS,
};

struct cm_inspect_options {
	const char *path; /* of argv */
	struct cm_selection selection;
	enum cm_inspect_sort sort;
	bool by_thread;	  /* counters of each hardware thread */
	bool has_min_max; /* counters: the extremes over hardware threads, too */
	bool is_json;
	bool has_callers; /* call trees: in place of the tables, or in the JSON */
	bool per_rank;	  /* of several ranks: the tables of each, too */
	bool is_brief; /* of several ranks only what the table over them needs; set by the parser */
	bool skips_traces; /* nothing that is shown needs the traces; set by the parser */
};

/* "total", "calls", ...: -EINVAL for anything else. */
int cm_inspect_sort_parse(const char *text, enum cm_inspect_sort *ret_sort, struct cm_diag *diag);

/*
 * Parse argv (argv[0] is the subcommand's name). Prints and exits with 2 on a usage error, with 0
 * after --help. The options start zeroed.
 */
void cm_inspect_options_parse(struct cm_inspect_options *options, int argc, char **argv);
void cm_inspect_options_fini(struct cm_inspect_options *options);

#endif
