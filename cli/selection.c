/* SPDX-License-Identifier: BSD-3-Clause */
/* The options that choose regions and ranks. */
#include "cli/selection.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/say.h"

static const struct argp_option option_list[] = {
	{"include", 'i', "RE", 0, "Only regions whose name RE matches from its start (repeatable)",
	 0},
	{"exclude", 'x', "RE", 0, "Without such regions; wins over --include (repeatable)", 0},
	{"ranks", 'r', "LIST", 0, "Only these ranks, such as 0-3,5 (repeatable)", 0},
	{0},
};

/* cm_say makes what is not printable in the user's own words visible; argp's printers do not. */
void cm_usage_check(const struct argp_state *state, int rc, const struct cm_diag *diag)
{
	if (rc >= 0)
		return;
	cm_say("%s; see `%s --help'", diag->text, state->name);
	exit(CM_EXIT_USAGE);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct cm_selection *selection = state->input;
	struct cm_diag diag = {0};
	int rc;

	switch (key) {
	case 'i':
		rc = cm_filter_add(&selection->filter, CM_FILTER_INCLUDE, arg, &diag);
		break;
	case 'x':
		rc = cm_filter_add(&selection->filter, CM_FILTER_EXCLUDE, arg, &diag);
		break;
	case 'r':
		rc = cm_rank_set_parse(&selection->ranks, arg, &diag);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	cm_usage_check(state, rc, &diag);
	return 0;
}

const struct argp cm_selection_argp = {.options = option_list, .parser = parse_option};

int cm_selection_check(const struct cm_selection *selection, const struct cm_results *results,
		       struct cm_diag *diag)
{
	const struct cm_rank_set *set = &selection->ranks;
	size_t i, k, n_ranks = cm_results_n_ranks(results);

	for (i = 0; i < set->n_ranges; i++) {
		struct cm_rank_set one = {.ranges = &set->ranges[i], .n_ranges = 1};

		for (k = 0; k < n_ranks; k++)
			if (cm_rank_set_has(&one, cm_results_rank(results, k)->rank))
				break;
		if (k < n_ranks)
			continue;
		if (one.ranges->first == one.ranges->last)
			return cm_diag_set(diag, -EINVAL, "there is no rank %ld in it",
					   (long)one.ranges->first);
		return cm_diag_set(diag, -EINVAL, "there is no rank from %ld to %ld in it",
				   (long)one.ranges->first, (long)one.ranges->last);
	}
	return 0;
}

void cm_selection_fini(struct cm_selection *selection)
{
	cm_filter_fini(&selection->filter);
	cm_rank_set_fini(&selection->ranks);
}
