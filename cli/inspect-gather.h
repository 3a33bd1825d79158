/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of an inspection that reads traces: regions grouped by tag over the ranks, their
 * percentiles (each one's and the group's), and how long each rank was profiled.
 *
 * Internal to cli/inspect-model.c. Errors: those of cm_results_read_calls, -ENOMEM.
 */
#ifndef CALLMARK_CLI_INSPECT_GATHER_H
#define CALLMARK_CLI_INSPECT_GATHER_H

#include "cli/inspect-model.h"

struct cm_gather_entry {
	struct cm_inspect_region *region; /* of a rank's section, still in file order */
	size_t rank_idx;
};

struct cm_gather_group {
	size_t first; /* entries of one tag */
	size_t n;
	struct cm_inspect_percentile percentiles[CM_N_PERCENTILES];
};

struct cm_gather {
	struct cm_gather_entry *entries; /* by tag, then rank */
	size_t n_entries;
	struct cm_gather_group *groups;
	size_t n_groups;
};

/*
 * Sets percentiles, n_backwards and the spans of the sections' regions, and profiled_ns and the
 * place's span of the sections. Without reads_traces all percentiles are estimates, and the
 * regions' spans are not known. The gather starts zeroed; it borrows the regions.
 */
int cm_gather_build(struct cm_gather *gather, struct cm_inspection *inspection, bool reads_traces,
		    struct cm_diag *diag);
void cm_gather_fini(struct cm_gather *gather);

#endif
