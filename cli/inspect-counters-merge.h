/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of several ranks as those of one: for each event group and region, the
 * hardware threads of all ranks side by side.
 *
 *	struct cm_merged_counters merged = {0};
 *	cm_merged_counters_build(&merged, ranks, n_ranks, &diag);
 *	... merged.counters[i].n_cpus ...
 *	cm_merged_counters_fini(&merged);
 *
 * Ranks whose counters have other names or another source (one fell back to the marker file) stay
 * beside each other as regions of the same tag. Borrows the ranks' strings. Errors: -ENOMEM.
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INSPECT_COUNTERS_MERGE_H
#define CALLMARK_CLI_INSPECT_COUNTERS_MERGE_H

#include <stddef.h>

#include "writer/results.h"

struct cm_merged_counters {
	struct cm_profile_counters *counters; /* by group, then tag */
	size_t *n_ranks;		      /* by counters: the ranks that are in it */
	size_t n;
	size_t n_ranks_counted; /* that have counters at all */
	const char *cpu_name;	/* of all of them; "" where not known or not the same */
};

/* The struct starts zeroed and is fini'd by the caller also when this fails. */
int cm_merged_counters_build(struct cm_merged_counters *merged,
			     const struct cm_result_rank *const *ranks, size_t n_ranks,
			     struct cm_diag *diag);
void cm_merged_counters_fini(struct cm_merged_counters *merged);

#endif
