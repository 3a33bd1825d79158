/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which regions and ranks to show.
 *
 *	cm_filter_add(&filter, CM_FILTER_INCLUDE, "MPI_.*", &diag);
 *	if (cm_filter_matches(&filter, region->tag)) ...
 *	cm_filter_fini(&filter);
 *
 * Expressions are POSIX extended regular expressions that must match at the start of the tag, not
 * necessarily all of it (as scope-profiler's re.match). A region is shown when any --include
 * matches, or there is none, and no --exclude does. All structs start zeroed.
 * Errors: -EINVAL with one line in diag, -ENOMEM. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INSPECT_FILTER_H
#define CALLMARK_CLI_INSPECT_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

enum cm_filter_kind {
	CM_FILTER_INCLUDE,
	CM_FILTER_EXCLUDE,
	CM_N_FILTER_KINDS,
};

struct cm_filter {
	regex_t *patterns[CM_N_FILTER_KINDS];
	size_t n_patterns[CM_N_FILTER_KINDS];
};

int cm_filter_add(struct cm_filter *filter, enum cm_filter_kind kind, const char *pattern,
		  struct cm_diag *diag);
bool cm_filter_matches(const struct cm_filter *filter, const char *tag);
void cm_filter_fini(struct cm_filter *filter);

/* "0-3,5": inclusive ranges of ranks. */
struct cm_rank_range {
	int64_t first;
	int64_t last;
};

struct cm_rank_set {
	struct cm_rank_range *ranges; /* in the order given; may overlap */
	size_t n_ranges;	      /* 0: all ranks */
};

/* Adds to the set: the option may be repeated. */
int cm_rank_set_parse(struct cm_rank_set *set, const char *text, struct cm_diag *diag);
bool cm_rank_set_has(const struct cm_rank_set *set, int64_t rank);
void cm_rank_set_fini(struct cm_rank_set *set);

#endif
