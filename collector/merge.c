/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap's top is the source with the least record. As long as its following records are not
 * beyond the runner-up's they are handed out together, without touching the heap.
 */
#include "collector/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define MIN_SHARE ((size_t)256) /* records of a read buffer: 6 KiB */
#define MAX_RUNS ((size_t)256)

struct source {
	const struct cm_record *next;
	const struct cm_record *end;
	struct cm_record *buffer;
	uint64_t off;	 /* of the file's next part */
	uint64_t n_left; /* records there */
	size_t run_idx;
};

struct merge {
	struct cm_spill *spill;
	struct source *sources;
	struct source **heap; /* heap[0] is the least */
	size_t n_heap;
	size_t n_share;
	struct cm_diag *diag;
};

size_t cm_merge_max_runs(size_t n_room)
{
	size_t n = n_room / MIN_SHARE;

	return n < 2 ? 2 : n > MAX_RUNS ? MAX_RUNS : n;
}

static bool is_before(const struct source *a, const struct source *b)
{
	const struct cm_record *x = a->next, *y = b->next;

	if (x->region != y->region)
		return x->region < y->region;
	if (x->start != y->start)
		return x->start < y->start;
	return a->run_idx < b->run_idx;
}

/* 1: there are records at hand; 0: the run is spent. */
static int refill(struct merge *merge, struct source *source)
{
	size_t n = source->n_left < merge->n_share ? (size_t)source->n_left : merge->n_share;
	int rc;

	if (source->next < source->end)
		return 1;
	if (!n)
		return 0;
	rc = cm_spill_read(merge->spill, source->buffer, n * sizeof(*source->buffer), source->off,
			   merge->diag);
	if (rc < 0)
		return rc;
	source->off += n * sizeof(*source->buffer);
	source->n_left -= n;
	source->next = source->buffer;
	source->end = source->buffer + n;
	return 1;
}

static void sift_down(struct merge *merge, size_t at)
{
	struct source **heap = merge->heap, *moving = heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

/* Records of the top that come before the runner-up. */
static size_t count_ahead(const struct merge *merge)
{
	struct source top = *merge->heap[0];
	const struct source *second;

	if (merge->n_heap == 1)
		return (size_t)(top.end - top.next);
	second = merge->heap[1];
	if (merge->n_heap > 2 && is_before(merge->heap[2], second))
		second = merge->heap[2];
	do
		top.next++;
	while (top.next < top.end && is_before(&top, second));
	return (size_t)(top.next - merge->heap[0]->next);
}

static int init_heap(struct merge *merge, const struct cm_merge_run *runs, size_t n_runs,
		     struct cm_record *buffer)
{
	int rc;

	for (size_t i = 0; i < n_runs; i++) {
		struct source *source = &merge->sources[i];

		source->buffer = buffer + i * merge->n_share;
		source->off = runs[i].off;
		source->n_left = runs[i].n;
		source->run_idx = i;
		rc = refill(merge, source);
		if (rc < 0)
			return rc;
		if (rc > 0)
			merge->heap[merge->n_heap++] = source;
	}
	for (size_t i = merge->n_heap / 2; i-- > 0;)
		sift_down(merge, i);
	return 0;
}

int cm_merge_runs(struct cm_spill *spill, const struct cm_merge_run *runs, size_t n_runs,
		  struct cm_record *buffer, size_t n_room,
		  int (*emit)(void *ctx, const struct cm_record *records, size_t n,
			      struct cm_diag *diag),
		  void *ctx, struct cm_diag *diag)
{
	struct merge merge = {.spill = spill, .n_share = n_room / n_runs, .diag = diag};
	int rc = -ENOMEM;

	merge.sources = calloc(n_runs, sizeof(*merge.sources));
	merge.heap = calloc(n_runs, sizeof(struct source *));
	if (!merge.sources || !merge.heap)
		goto out;
	rc = init_heap(&merge, runs, n_runs, buffer);
	while (rc >= 0 && merge.n_heap > 0) {
		struct source *top = merge.heap[0];
		size_t n = count_ahead(&merge);

		rc = emit(ctx, top->next, n, diag);
		if (rc < 0)
			break;
		top->next += n;
		rc = refill(&merge, top);
		if (rc == 0)
			merge.heap[0] = merge.heap[--merge.n_heap];
		if (rc >= 0 && merge.n_heap > 0)
			sift_down(&merge, 0);
	}
out:
	free(merge.heap);
	free(merge.sources);
	return rc < 0 ? cm_diag_set(diag, rc, "no memory to merge calls") : 0;
}
