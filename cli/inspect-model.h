/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that `callmark inspect` shows, worked out before a byte is printed.
 *
 *	cm_inspection_build(&inspection, results, &options, &diag);
 *	... inspection.sections[i].regions[k] ...
 *	cm_inspection_fini(&inspection);
 *
 * One section a rank in the order of the file; where several ranks are shown, a section over all
 * of them comes first. Regions are filtered and sorted as the options say. With is_brief the traces
 * of several ranks are not read: all percentiles are estimates, and regions have no spans.
 * Errors: -EINVAL (a rank that the file does not hold), -ENOMEM, those of cm_results_read_calls.
 * Borrows the results until fini. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INSPECT_MODEL_H
#define CALLMARK_CLI_INSPECT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/inspect-axis.h"
#include "cli/inspect-balance.h"
#include "cli/inspect-counters-merge.h"
#include "cli/inspect-counters.h"
#include "cli/inspect-options.h"
#include "cli/inspect-percentile.h"
#include "writer/results.h"

struct cm_inspect_percentile {
	double ns;     /* NaN where not known */
	bool is_exact; /* from a complete trace; else from the histogram */
};

struct cm_inspect_region {
	struct cm_profile_region stats; /* over all ranks: the sums; symbols of the first one */
	size_t region_idx;		/* in the rank; of no use over all ranks */
	uint64_t n_traced;		/* calls that have a record in the trace */
	uint64_t n_completed;		/* calls - open: what times and percentiles are about */
	uint64_t n_backwards;		/* records whose end is before their start */
	size_t n_ranks;			/* that entered the region */
	double avg_ns;			/* NaN without a completed call; likewise below */
	double std_ns;			/* of the population */
	/* total / profiled_ns of the section; NaN where that is not known, or cannot be true */
	double share;
	struct cm_inspect_percentile percentiles[CM_N_PERCENTILES];
	bool has_span; /* the next two are known: one rank's, its trace was read and is complete */
	int64_t first_ns;
	int64_t last_ns;
	struct cm_inspect_balance balance; /* of the first section's regions */
};

struct cm_inspect_section {
	const struct cm_result_rank *rank; /* NULL: over all ranks shown */
	size_t rank_idx;
	size_t n_ranks;
	struct cm_inspect_region *regions;
	size_t n_regions;
	size_t n_hidden;		   /* regions that the filter left out */
	struct cm_counter_tables counters; /* over all ranks: of the inspection's merged ones */
	struct cm_inspect_place place;	   /* of a rank */
	/*
	 * The time in which something was profiled: for each thread from its first start to its
	 * last end, summed over the threads and ranks. 0: not known.
	 */
	uint64_t profiled_ns;
	/* The traces hold all calls. Else the threads' last ends may be missing from profiled_ns.
	 */
	bool is_complete;
	uint64_t n_untimed; /* calls that were not timed; their region is not known */
};

struct cm_inspection {
	struct cm_results *results;
	struct cm_inspect_section *sections;
	size_t n_sections;
	struct cm_merged_counters merged; /* of all ranks shown, where there are several */
	/* Over several ranks: the first section's regions, by the balance's columns. */
	const struct cm_inspect_region **by_balance;
};

/* The inspection starts zeroed and is fini'd by the caller also when this fails. */
int cm_inspection_build(struct cm_inspection *inspection, struct cm_results *results,
			const struct cm_inspect_options *options, struct cm_diag *diag);
void cm_inspection_fini(struct cm_inspection *inspection);

#endif
