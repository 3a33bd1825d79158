/* SPDX-License-Identifier: BSD-3-Clause */
/* Pass 1: count, compare with the open calls, read the totals. */
#include "collector/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/stream.h"

#define N_BATCH 512
#ifdef CM_SMALL_PIECES /* fuzzers */
#define MAX_BLOCKS_BYTES ((size_t)CM_SPOOL_TOTALS_STRIDE * 2)
#else
#define MAX_BLOCKS_BYTES ((size_t)CM_SPOOL_TOTALS_STRIDE * 256)
#endif

int cm_trace_init(struct cm_trace *trace, struct cm_spool_reader *reader, struct cm_clock_map *map,
		  struct cm_diag *diag)
{
	memset(trace, 0, sizeof(*trace));
	trace->reader = reader;
	trace->map = map;
	trace->regions = calloc(reader->n_regions + 1, sizeof(*trace->regions));
	trace->called = calloc(reader->n_regions + 1, sizeof(*trace->called));
	trace->threads = malloc((reader->n_threads + 1) * sizeof(*trace->threads));
	if (!trace->regions || !trace->called || !trace->threads) {
		cm_trace_fini(trace);
		return cm_diag_set(diag, -ENOMEM, "%s: no memory for its regions", reader->path);
	}
	for (size_t i = 0; i <= reader->n_threads; i++) {
		trace->threads[i].first_ns = INT64_MAX;
		trace->threads[i].last_ns = INT64_MIN;
	}
	return 0;
}

void cm_trace_fini(struct cm_trace *trace)
{
	for (size_t i = 0; trace->regions && i < trace->reader->n_regions; i++)
		free(trace->regions[i].fold);
	free(trace->regions);
	free(trace->called);
	free(trace->threads);
	trace->regions = NULL;
	trace->called = NULL;
	trace->threads = NULL;
}

static struct cm_fold *get_fold(struct cm_trace *trace, uint32_t region)
{
	struct cm_fold **fold = &trace->regions[region].fold;

	if (!*fold) {
		*fold = malloc(sizeof(**fold));
		if (*fold)
			cm_fold_init(*fold);
	}
	return *fold;
}

static bool is_known(const struct cm_trace *trace, uint32_t region)
{
	return region < trace->reader->n_regions && trace->reader->regions[region].tag;
}

/* The entry that is this call, and has not been found before. Sorted: see spool-reader.h. */
static struct cm_spool_open *find_open(struct cm_slot *slot, const struct cm_call *call)
{
	size_t low = 0, high = slot->n_open;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct cm_spool_open *entry = &slot->open[mid];

		if (entry->region < call->region ||
		    (entry->region == call->region && entry->start < call->start))
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < slot->n_open; low++) {
		struct cm_spool_open *entry = &slot->open[low];

		if (entry->region != call->region || entry->start != call->start)
			return NULL;
		if (!entry->scratch)
			return entry;
	}
	return NULL;
}

static void scan_call(struct cm_trace *trace, uint32_t slot_idx, struct cm_slot *slot,
		      const struct cm_call *call)
{
	struct cm_trace_region *region = &trace->regions[call->region];

	if (region->n++ == 0) {
		region->slot_idx = slot_idx;
		region->thread = call->thread;
	}
	region->is_unsorted |= call->start < region->last_start || region->slot_idx != slot_idx;
	region->is_multi_thread |= region->thread != call->thread;
	region->last_start = call->start;
	if (__builtin_expect(region->has_open, 0)) {
		struct cm_spool_open *entry = find_open(slot, call);

		/* Killed between its record and the closing of its entry: it is that call. */
		if (entry)
			entry->scratch = 1;
	}
}

/* Entries that no record answered are calls that were still running. */
static int count_open(struct cm_trace *trace, struct cm_slot *slot)
{
	for (size_t i = 0; i < slot->n_open; i++) {
		struct cm_spool_open *entry = &slot->open[i];
		struct cm_fold *fold;

		if (!is_known(trace, entry->region)) {
			trace->n_bad++;
			continue;
		}
		trace->regions[entry->region].has_open = false;
		if (entry->scratch)
			continue;
		fold = get_fold(trace, entry->region);
		if (!fold)
			return -ENOMEM;
		fold->n_open++;
	}
	return 0;
}

static int scan_stream(struct cm_trace *trace, uint32_t slot_idx, struct cm_progress *progress,
		       struct cm_diag *diag)
{
	struct cm_slot *slot = &trace->reader->slots[slot_idx];
	struct cm_call calls[N_BATCH];
	struct cm_stream *stream;
	uint64_t pos = 0;
	long n;
	int rc = cm_stream_open(&stream, trace->reader, slot_idx, diag);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < slot->n_open; i++) {
		slot->open[i].scratch = 0;
		if (is_known(trace, slot->open[i].region))
			trace->regions[slot->open[i].region].has_open = true;
	}
	while ((n = cm_stream_read(stream, calls, N_BATCH)) > 0) {
		for (long i = 0; i < n; i++)
			scan_call(trace, slot_idx, slot, &calls[i]);
		if (cm_stream_position(stream) != pos) {
			cm_progress_add(progress, cm_stream_position(stream) - pos);
			pos = cm_stream_position(stream);
		}
	}
	trace->n_bad += cm_stream_n_bad(stream);
	cm_stream_close(stream);
	if (n < 0)
		return cm_diag_set(diag, (int)n, "%s: cannot read t%u.dat: %s", trace->reader->path,
				   slot->slot, strerror((int)-n));
	return count_open(trace, slot);
}

/* Killed between being counted in this block and the closing of its entry: it is not open. */
static void drop_counted(const struct cm_slot *slot, const struct cm_spool_totals *block,
			 struct cm_fold *fold)
{
	for (size_t i = 0; i < slot->n_open; i++) {
		struct cm_spool_open *entry = &slot->open[i];
		uint64_t changed = (entry->frame ^ block->pending) & CM_PENDING_COUNT_MASK;

		if (entry->region != block->region || entry->scratch || !changed ||
		    !(entry->frame & CM_OPEN_COUNTED_BIT))
			continue;
		entry->scratch = 1;
		fold->n_open -= fold->n_open > 0;
	}
}

/* 1: go on; 0: the file's last block was before. */
static int take_block(struct cm_trace *trace, const struct cm_slot *slot, const void *data)
{
	struct cm_spool_totals block;
	struct cm_fold *fold;

	memcpy(&block, data, sizeof(block));
	if (!block.used)
		return 0;
	if (!is_known(trace, block.region)) {
		trace->n_bad++;
		return 1;
	}
	fold = get_fold(trace, block.region);
	if (!fold)
		return -ENOMEM;
	cm_fold_add_totals(fold, &block, trace->map);
	drop_counted(slot, &block, fold);
	return 1;
}

static int scan_totals(struct cm_trace *trace, const struct cm_slot *slot)
{
	char name[24], *data;
	uint64_t off = 0;
	long n = 0;
	int fd, rc = 1;

	snprintf(name, sizeof(name), "t%u.tot", slot->slot);
	fd = cm_spool_reader_open_file(trace->reader, name);
	if (fd < 0) {
		trace->reader->n_bad_files++;
		return 0;
	}
	data = malloc(MAX_BLOCKS_BYTES);
	if (!data)
		rc = -ENOMEM;
	while (rc > 0) {
		n = cm_spool_reader_pread(fd, data, MAX_BLOCKS_BYTES, off);
		if (n < (long)CM_SPOOL_TOTALS_STRIDE)
			break;
		off += (uint64_t)n / CM_SPOOL_TOTALS_STRIDE * CM_SPOOL_TOTALS_STRIDE;
		for (long i = 0; rc > 0 && i + (long)CM_SPOOL_TOTALS_STRIDE <= n;
		     i += CM_SPOOL_TOTALS_STRIDE)
			rc = take_block(trace, slot, data + i);
	}
	free(data);
	close(fd);
	return rc < 0 ? rc : 0;
}

/* Which regions were entered at all, and how much must be sorted. */
static int list_called(struct cm_trace *trace)
{
	for (uint32_t i = 0; i < trace->reader->n_regions; i++) {
		struct cm_trace_region *region = &trace->regions[i];
		const struct cm_fold *fold = region->fold;

		if (!region->n && !(fold && (fold->n_totals || fold->n_open)))
			continue;
		if (!get_fold(trace, i))
			return -ENOMEM;
		trace->called[trace->n_called++] = i;
		trace->n_records += region->n;
		if (region->is_unsorted)
			trace->n_unsorted += region->n;
	}
	return 0;
}

int cm_trace_scan(struct cm_trace *trace, struct cm_progress *progress, struct cm_diag *diag)
{
	const struct cm_spool_reader *reader = trace->reader;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < reader->n_slots; i++) {
		rc = scan_stream(trace, (uint32_t)i, progress, diag);
		if (rc >= 0 && reader->slots[i].has_tot)
			rc = scan_totals(trace, &reader->slots[i]);
	}
	if (rc >= 0)
		rc = list_called(trace);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", reader->path, strerror(-rc));
	return 0;
}
