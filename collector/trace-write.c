/* SPDX-License-Identifier: BSD-3-Clause */
/* Pass 2: convert the clock, sum, and hand the calls on in rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sorter.h"
#include "collector/stream.h"
#include "collector/trace.h"

#define N_BATCH 512

/* Where a region's calls are put together for the writer. */
struct out {
	struct cm_fold *fold;
	int64_t *starts; /* NULL: not allocated (yet) */
	int64_t *ends;
	int32_t *threads; /* NULL: one thread */
	size_t n;	  /* in the buffers */
	size_t n_rows;	  /* their size */
	uint64_t n_left;  /* calls still to come */
	uint32_t idx;	  /* in trace->called */
	bool is_unsorted;
	bool is_multi_thread;
};

struct pass {
	struct cm_trace *trace;
	const struct cm_trace_sink *sink;
	struct cm_progress *progress;
	struct cm_diag *diag;
	struct out *outs; /* by region index */
	struct cm_sorter *sorter;
};

static void free_rows(struct out *out)
{
	free(out->starts);
	out->starts = NULL;
	out->ends = NULL;
	out->threads = NULL;
}

/* One piece of memory: starts, ends, threads. Only while the region's calls come. */
static int make_rows(struct pass *pass, struct out *out)
{
	size_t n = pass->sink->rows(pass->sink->ctx, out->idx);
	size_t n_bytes = 2 * sizeof(int64_t) + (out->is_multi_thread ? sizeof(int32_t) : 0);

	out->starts = n ? reallocarray(NULL, n, n_bytes) : NULL;
	if (!out->starts)
		return cm_diag_set(pass->diag, -ENOMEM, "no memory for %zu rows", n);
	out->ends = out->starts + n;
	out->threads = out->is_multi_thread ? (int32_t *)(out->ends + n) : NULL;
	out->n_rows = n;
	return 0;
}

static int flush_rows(struct pass *pass, struct out *out)
{
	int rc = pass->sink->append(pass->sink->ctx, out->idx, out->starts, out->ends, out->threads,
				    out->n, pass->diag);

	out->n = 0;
	if (!out->n_left || rc < 0)
		free_rows(out);
	return rc;
}

static inline int put_call(struct pass *pass, struct out *out, int64_t start, int64_t end,
			   uint32_t thread)
{
	size_t n = out->n;

	if (__builtin_expect(!out->starts, 0)) {
		int rc = make_rows(pass, out);

		if (rc < 0)
			return rc;
	}
	out->starts[n] = start;
	out->ends[n] = end;
	if (out->threads)
		out->threads[n] = (int32_t)thread;
	out->n = ++n;
	if (__builtin_expect(n == out->n_rows || !out->n_left, 0))
		return flush_rows(pass, out);
	return 0;
}

static int write_calls(struct pass *pass, const struct cm_call *calls, size_t n)
{
	struct cm_clock_map *map = pass->trace->map;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < n; i++) {
		const struct cm_call *call = &calls[i];
		struct out *out = &pass->outs[call->region];
		struct cm_trace_thread *thread = &pass->trace->threads[call->thread];
		int64_t start = cm_clock_map_ns(map, call->start);
		int64_t end = cm_clock_map_ns(map, call->end);

		if (__builtin_expect(!out->n_left, 0))
			continue; /* recorded since pass 1: the file's columns have no room */
		thread->first_ns = start < thread->first_ns ? start : thread->first_ns;
		thread->last_ns = end > thread->last_ns ? end : thread->last_ns;
		cm_fold_add(out->fold, (uint64_t)end - (uint64_t)start, call->flags);
		out->n_left--;
		if (__builtin_expect(out->is_unsorted, 0)) {
			struct cm_record record = {start, end, call->region, (int32_t)call->thread};

			rc = cm_sorter_add(pass->sorter, &record, pass->diag);
		} else {
			rc = put_call(pass, out, start, end, call->thread);
		}
	}
	return rc;
}

static int write_stream(struct pass *pass, size_t slot_idx)
{
	struct cm_call calls[N_BATCH];
	struct cm_stream *stream = NULL;
	uint64_t pos = 0;
	long n;
	int rc = cm_stream_open(&stream, pass->trace->reader, slot_idx, pass->diag);

	while (rc >= 0 && (n = cm_stream_read(stream, calls, N_BATCH)) != 0) {
		rc = n < 0 ? (int)n : write_calls(pass, calls, (size_t)n);
		if (cm_stream_position(stream) != pos) {
			cm_progress_add(pass->progress, 2 * (cm_stream_position(stream) - pos));
			pos = cm_stream_position(stream);
		}
	}
	cm_stream_close(stream);
	return rc;
}

/* Sorted calls come region by region: each has its rows in turn. */
static int write_sorted(void *ctx, const struct cm_record *records, size_t n, struct cm_diag *diag)
{
	struct pass *pass = ctx;
	int rc = 0;

	(void)diag; /* the pass has the same */
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		const struct cm_record *record = &records[i];
		struct out *out = &pass->outs[record->region];

		out->n_left--;
		rc = put_call(pass, out, record->start, record->end, (uint32_t)record->thread);
	}
	return rc;
}

static int make_outs(struct pass *pass)
{
	struct cm_trace *trace = pass->trace;

	pass->outs = calloc(trace->reader->n_regions + 1, sizeof(*pass->outs));
	if (!pass->outs)
		return -ENOMEM;
	for (size_t i = 0; i < trace->n_called; i++) {
		const struct cm_trace_region *region = &trace->regions[trace->called[i]];
		struct out *out = &pass->outs[trace->called[i]];

		out->fold = region->fold;
		out->n_left = region->n;
		out->idx = (uint32_t)i;
		out->is_unsorted = region->is_unsorted;
		out->is_multi_thread = region->is_multi_thread;
	}
	if (!trace->n_unsorted)
		return 0;
	return cm_sorter_new(&pass->sorter, (uint32_t)trace->reader->n_regions, trace->n_unsorted,
			     pass->sink->sort_bytes, pass->sink->spill_dir, pass->diag);
}

/* Did every call come that pass 1 announced? Those that are to be sorted start to count anew. */
static int check_complete(struct pass *pass)
{
	struct cm_trace *trace = pass->trace;
	uint64_t n_missing = 0;

	for (size_t i = 0; i < trace->n_called; i++) {
		struct out *out = &pass->outs[trace->called[i]];

		n_missing += out->n_left;
		if (out->is_unsorted)
			out->n_left = trace->regions[trace->called[i]].n;
	}
	if (n_missing || cm_spool_reader_has_moved(trace->reader))
		return cm_diag_set(pass->diag, -ESTALE,
				   "%s: its process went on recording while it was read",
				   trace->reader->path);
	return 0;
}

int cm_trace_write(struct cm_trace *trace, const struct cm_trace_sink *sink,
		   struct cm_progress *progress, struct cm_diag *diag)
{
	struct pass pass = {.trace = trace, .sink = sink, .progress = progress, .diag = diag};
	int rc = make_outs(&pass);

	for (size_t i = 0; rc >= 0 && i < trace->reader->n_slots; i++)
		rc = write_stream(&pass, i);
	if (rc >= 0)
		rc = check_complete(&pass);
	if (rc >= 0 && pass.sorter)
		rc = cm_sorter_merge(pass.sorter, write_sorted, &pass, diag);
	cm_sorter_free(pass.sorter);
	for (size_t i = 0; pass.outs && i < trace->n_called; i++)
		free_rows(&pass.outs[trace->called[i]]);
	free(pass.outs);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", trace->reader->path, strerror(-rc));
	return 0;
}
