/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --include, --exclude and --ranks: what of a profile a command is about.
 *
 *	static const struct argp_child children[] = {{&cm_selection_argp, 0, NULL, 0}, {0}};
 *	... state->child_inputs[0] = &options->selection;      on ARGP_KEY_INIT
 *	cm_selection_check(&options->selection, results, &diag);
 *	cm_selection_fini(&options->selection);
 *
 * The struct starts zeroed: everything is selected. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_SELECTION_H
#define CALLMARK_CLI_SELECTION_H

#include <argp.h>

#include "cli/inspect-filter.h"
#include "writer/results.h"

struct cm_selection {
	struct cm_filter filter;
	struct cm_rank_set ranks;
};

/* The three options; its input is a struct cm_selection. Exits with 2 on a wrong one. */
extern const struct argp cm_selection_argp;

/* What an option's parser returned: negative prints the line in diag and exits with 2. */
void cm_usage_check(const struct argp_state *state, int rc, const struct cm_diag *diag);

/* Every range of ranks that was asked for must select something: -EINVAL. */
int cm_selection_check(const struct cm_selection *selection, const struct cm_results *results,
		       struct cm_diag *diag);

void cm_selection_fini(struct cm_selection *selection);

#endif
