/* SPDX-License-Identifier: BSD-3-Clause */
/* Durations from the traces of one or many ranks: kept when few, streamed when many. */
#include "cli/inspect-trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/guard.h"

struct cm_trace {
	struct cm_results *results;
	struct cm_trace_part *parts;
	size_t n_parts;
	struct cm_trace_progress *progress;
	int64_t *starts; /* one slice each */
	int64_t *ends;
	uint64_t *kept; /* durations of all parts, or NULL */
	/* The run of parts that was asked for last. */
	size_t first_part;
	uint64_t first_row; /* among the kept ones */
};

static uint64_t n_rows(const struct cm_trace_part *parts, size_t n_parts)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n_parts; i++)
		sum += parts[i].n;
	return sum;
}

static void report(struct cm_trace_progress *progress, size_t n)
{
	cm_guard_go_on();
	if (!progress)
		return;
	progress->done += n;
	cm_progress_show(&progress->progress, progress->done, progress->total);
}

/* At most one slice, all of one part. A pass that starts over counts the odd ones anew. */
static int read_part(struct cm_trace *trace, struct cm_trace_part *part, uint64_t first, size_t n,
		     uint64_t *ret_ns, struct cm_diag *diag)
{
	size_t i;
	int rc;

	rc = cm_results_read_calls(trace->results, part->rank_idx, part->region_idx, first, n,
				   trace->starts, trace->ends, NULL, diag);
	if (rc < 0)
		return rc;
	if (!first) {
		part->n_backwards = 0;
		part->first_ns = INT64_MAX;
		part->last_ns = INT64_MIN;
	}
	for (i = 0; i < n; i++) {
		if (trace->starts[i] < part->first_ns)
			part->first_ns = trace->starts[i];
		if (trace->ends[i] > part->last_ns)
			part->last_ns = trace->ends[i];
		if (trace->ends[i] >= trace->starts[i]) {
			ret_ns[i] = (uint64_t)trace->ends[i] - (uint64_t)trace->starts[i];
		} else {
			ret_ns[i] = 0;
			part->n_backwards++;
		}
	}
	report(trace->progress, n);
	return 0;
}

static int keep(struct cm_trace *trace, uint64_t n_all, struct cm_diag *diag)
{
	uint64_t first, *to;
	size_t i, n;
	int rc;

	to = reallocarray(NULL, n_all + !n_all, sizeof(*to));
	if (!to)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	trace->kept = to;
	for (i = 0; i < trace->n_parts; i++) {
		for (first = 0; first < trace->parts[i].n; first += n, to += n) {
			n = trace->parts[i].n - first < CM_DURATIONS_SLICE
				    ? trace->parts[i].n - first
				    : CM_DURATIONS_SLICE;
			rc = read_part(trace, &trace->parts[i], first, n, to, diag);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int cm_trace_open(struct cm_trace **ret_trace, struct cm_results *results,
		  struct cm_trace_part *parts, size_t n_parts, struct cm_trace_progress *progress,
		  struct cm_diag *diag)
{
	struct cm_trace *trace = calloc(1, sizeof(*trace));
	uint64_t n_all = n_rows(parts, n_parts);
	int rc = 0;

	if (!trace)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	trace->results = results;
	trace->parts = parts;
	trace->n_parts = n_parts;
	trace->progress = progress;
	trace->starts = calloc(CM_DURATIONS_SLICE, sizeof(*trace->starts));
	trace->ends = calloc(CM_DURATIONS_SLICE, sizeof(*trace->ends));
	if (!trace->starts || !trace->ends)
		rc = cm_diag_set(diag, -ENOMEM, "out of memory");
	if (rc >= 0 && n_all <= CM_TRACE_MAX_KEPT)
		rc = keep(trace, n_all, diag);
	if (rc < 0) {
		cm_trace_close(trace);
		return rc;
	}
	*ret_trace = trace;
	return 0;
}

void cm_trace_close(struct cm_trace *trace)
{
	if (!trace)
		return;
	free(trace->starts);
	free(trace->ends);
	free(trace->kept);
	free(trace);
}

/* Rows counted from the first one of the run of parts; may span several of them. */
static int read_run(void *ctx, uint64_t first, size_t n, uint64_t *ret_ns, struct cm_diag *diag)
{
	struct cm_trace *trace = ctx;
	struct cm_trace_part *part = trace->parts + trace->first_part;
	size_t piece;
	int rc;

	if (trace->kept) {
		memcpy(ret_ns, trace->kept + trace->first_row + first, n * sizeof(*ret_ns));
		return 0;
	}
	for (; n; n -= piece, ret_ns += piece, first = 0) {
		while (first >= part->n)
			first -= part++->n;
		piece = part->n - first < n ? part->n - first : n;
		rc = read_part(trace, part, first, piece, ret_ns, diag);
		if (rc < 0)
			return rc;
		part++;
	}
	return 0;
}

void cm_trace_durations(struct cm_trace *trace, size_t first_part, size_t n_parts,
			struct cm_durations *ret_durations)
{
	trace->first_part = first_part;
	trace->first_row = n_rows(trace->parts, first_part);
	ret_durations->n = n_rows(trace->parts + first_part, n_parts);
	ret_durations->read = read_run;
	ret_durations->ctx = trace;
}

uint64_t cm_trace_expected_rows(const struct cm_trace_part *parts, size_t n_parts)
{
	uint64_t n_all = n_rows(parts, n_parts);

	/* Streamed: two passes are the usual number, over the parts and over all of them. */
	if (n_all <= CM_TRACE_MAX_KEPT)
		return n_all;
	return n_parts > 1 ? n_all * 4 : n_all * 2;
}

int cm_trace_last_end(struct cm_results *results, size_t rank_idx, size_t region_idx, uint64_t n,
		      int64_t *ret_last_ns, struct cm_diag *diag)
{
	int64_t *ends = calloc(CM_DURATIONS_SLICE, sizeof(*ends)), last = INT64_MIN;
	uint64_t first;
	size_t piece, i;
	int rc = 0;

	if (!ends)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	for (first = 0; rc >= 0 && first < n; first += piece) {
		piece = n - first < CM_DURATIONS_SLICE ? n - first : CM_DURATIONS_SLICE;
		rc = cm_results_read_calls(results, rank_idx, region_idx, first, piece, NULL, ends,
					   NULL, diag);
		cm_guard_go_on();
		for (i = 0; rc >= 0 && i < piece; i++)
			if (ends[i] > last)
				last = ends[i];
	}
	free(ends);
	if (rc >= 0)
		*ret_last_ns = last;
	return rc;
}
