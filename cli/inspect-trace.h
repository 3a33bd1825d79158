/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The durations of one tag's calls over several ranks, as input of cm_percentile_select.
 *
 *	cm_trace_open(&trace, results, parts, n_parts, progress, &diag);
 *	cm_trace_durations(trace, first_part, n_parts, &durations);     any run of parts
 *	cm_percentile_select(&durations, ns, &diag);
 *	cm_trace_close(trace);
 *
 * Up to 4 million rows are read once and kept; more are read again in every pass, one slice at a
 * time, so that memory is bounded whatever the trace's size.
 * Errors: those of cm_results_read_calls, -ENOMEM. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INSPECT_TRACE_H
#define CALLMARK_CLI_INSPECT_TRACE_H

#include "cli/inspect-percentile.h"
#include "cli/terminal.h"
#include "writer/results.h"

#define CM_TRACE_MAX_KEPT (UINT64_C(4) << 20)

struct cm_trace_part {
	size_t rank_idx;
	size_t region_idx;
	uint64_t n; /* rows */
	/* Set by reading: */
	uint64_t n_backwards; /* calls whose end is before their start; taken as 0 ns */
	int64_t first_ns;     /* the first start and the last end */
	int64_t last_ns;
};

/* How far all reading of one command is. */
struct cm_trace_progress {
	struct cm_progress progress;
	uint64_t done; /* rows */
	uint64_t total;
};

struct cm_trace;

/* Everything is borrowed until close. progress may be NULL. */
int cm_trace_open(struct cm_trace **ret_trace, struct cm_results *results,
		  struct cm_trace_part *parts, size_t n_parts, struct cm_trace_progress *progress,
		  struct cm_diag *diag);
/* Valid until the next call of this function, or close. */
void cm_trace_durations(struct cm_trace *trace, size_t first_part, size_t n_parts,
			struct cm_durations *ret_durations);
/* NULL is allowed. */
void cm_trace_close(struct cm_trace *trace);

/* Rows that will be read for these parts, each of them and all together being selected from. */
uint64_t cm_trace_expected_rows(const struct cm_trace_part *parts, size_t n_parts);

/* The last end of one region's calls; INT64_MIN when it has none. */
int cm_trace_last_end(struct cm_results *results, size_t rank_idx, size_t region_idx, uint64_t n,
		      int64_t *ret_last_ns, struct cm_diag *diag);

#endif
