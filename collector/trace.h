/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the streams of one spool to the traces and numbers of one file, in two passes.
 *
 *	cm_trace_init(&trace, &reader, &map, &diag);
 *	cm_trace_scan(&trace, progress, &diag);       pass 1: how many calls, in which order
 *	... make a cm_profile whose region i is spool region trace.called[i] ...
 *	cm_trace_write(&trace, &sink, progress, &diag);   pass 2: converts, sums, writes
 *	... cm_fold_finish(trace.regions[r].fold, ...) ...
 *	cm_trace_fini(&trace);
 *
 * Regions whose calls stand in order (one slot, no recursion) go straight to the writer; those of
 * several slots, and recursive ones, are sorted first (collector/sorter.h). Memory is bounded
 * whatever the number of calls: the writer's rows, the sorter's pool, and some 1,300 bytes a
 * region.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_TRACE_H
#define CALLMARK_COLLECTOR_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/clock.h"
#include "collector/fold.h"
#include "collector/progress.h"
#include "collector/spool-reader.h"

/* What is known of a region after pass 1. */
struct cm_trace_region {
	uint64_t n; /* calls in the streams */
	uint64_t last_start;
	struct cm_fold *fold; /* NULL: never called */
	uint32_t slot_idx;    /* of the first call */
	uint32_t thread;      /* likewise; index, reader->n_threads where not known */
	bool is_unsorted;     /* several slots, or starts that go back */
	bool is_multi_thread;
	bool has_open; /* calls to be compared with the open-call table of the slot at hand */
};

struct cm_trace_thread {
	int64_t first_ns; /* INT64_MAX: nothing seen */
	int64_t last_ns;
};

struct cm_trace {
	struct cm_spool_reader *reader;
	struct cm_clock_map *map;
	struct cm_trace_region *regions; /* reader->n_regions, by region index */
	uint32_t *called;		 /* regions that were entered, ascending */
	size_t n_called;
	struct cm_trace_thread *threads; /* reader->n_threads + 1: the last for unknown ones */
	uint64_t n_records;
	uint64_t n_unsorted; /* of those, in regions that must be sorted */
	uint64_t n_bad;	     /* records, blocks and entries that were dropped */
};

/* Where the calls go: the writer, or a test. */
struct cm_trace_sink {
	/* As cm_writer_rows() and cm_writer_append(); idx counts trace->called. */
	size_t (*rows)(void *ctx, size_t idx);
	int (*append)(void *ctx, size_t idx, const int64_t *starts, const int64_t *ends,
		      const int32_t *threads, size_t n, struct cm_diag *diag);
	void *ctx;
	const char *spill_dir; /* where sorting may put a temporary file */
	size_t sort_bytes;     /* 0: the sorter's default */
};

/* Reader and map are borrowed until fini. */
int cm_trace_init(struct cm_trace *trace, struct cm_spool_reader *reader, struct cm_clock_map *map,
		  struct cm_diag *diag);

/* Streams, open calls, totals blocks. */
int cm_trace_scan(struct cm_trace *trace, struct cm_progress *progress, struct cm_diag *diag);

/*
 * Every traced call once, per region ascending in start, in pieces of rows(idx) but the last.
 * -ESTALE: the process recorded on, and pass 2 does not find what pass 1 did.
 */
int cm_trace_write(struct cm_trace *trace, const struct cm_trace_sink *sink,
		   struct cm_progress *progress, struct cm_diag *diag);

void cm_trace_fini(struct cm_trace *trace);

#endif
