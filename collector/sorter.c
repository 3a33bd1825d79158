/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs: the pool is sorted when it is full and appended to the temporary file. At the end the
 * pool's memory becomes the runs' read buffers. If everything fitted, no file is ever made.
 */
#include "collector/sorter.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/merge.h"
#include "collector/record-sort.h"
#include "collector/spill.h"

#define DEFAULT_BYTES ((size_t)64 << 20)
#ifdef CM_SMALL_PIECES /* fuzzers: a few calls are spilled and merged already */
#define MIN_RECORDS ((size_t)8)
#else
#define MIN_RECORDS ((size_t)512) /* of the pool, whatever n_expected says */
#endif

struct cm_sorter {
	struct cm_record *pool; /* both of n_room; sorting goes from one to the other */
	struct cm_record *scratch;
	size_t n;
	size_t n_room;
	uint32_t *counts;
	uint32_t n_regions;
	struct cm_merge_run *runs;
	size_t n_runs;
	size_t n_runs_room;
	struct cm_spill spill;
	const char *dir;
};

int cm_sorter_new(struct cm_sorter **ret_sorter, uint32_t n_regions, uint64_t n_expected,
		  size_t n_bytes, const char *dir, struct cm_diag *diag)
{
	struct cm_sorter *sorter = calloc(1, sizeof(*sorter));
	size_t n_room = (n_bytes ? n_bytes : DEFAULT_BYTES) / 2 / sizeof(struct cm_record);

	if (!sorter)
		return cm_diag_set(diag, -ENOMEM, "no memory to sort calls");
	if (n_room > n_expected)
		n_room = (size_t)n_expected;
	if (n_room < MIN_RECORDS)
		n_room = MIN_RECORDS;
	sorter->n_room = n_room;
	sorter->n_regions = n_regions;
	sorter->spill.fd = -1;
	sorter->dir = dir;
	sorter->pool = malloc(n_room * sizeof(*sorter->pool));
	sorter->scratch = malloc(n_room * sizeof(*sorter->scratch));
	sorter->counts = malloc((n_regions + (size_t)1) * sizeof(*sorter->counts));
	if (!sorter->pool || !sorter->scratch || !sorter->counts) {
		cm_sorter_free(sorter);
		return cm_diag_set(diag, -ENOMEM, "no memory to sort calls");
	}
	*ret_sorter = sorter;
	return 0;
}

static void sort_pool(struct cm_sorter *sorter)
{
	struct cm_record *sorted = cm_record_sort(sorter->pool, sorter->scratch, sorter->n,
						  sorter->counts, sorter->n_regions);

	if (sorted != sorter->pool) {
		sorter->scratch = sorter->pool;
		sorter->pool = sorted;
	}
}

static int add_run(struct cm_sorter *sorter, uint64_t off, uint64_t n)
{
	if (sorter->n_runs == sorter->n_runs_room) {
		size_t n_room = sorter->n_runs_room ? 2 * sorter->n_runs_room : 64;
		struct cm_merge_run *more = reallocarray(sorter->runs, n_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		sorter->runs = more;
		sorter->n_runs_room = n_room;
	}
	sorter->runs[sorter->n_runs].off = off;
	sorter->runs[sorter->n_runs].n = n;
	sorter->n_runs++;
	return 0;
}

static int spill_pool(struct cm_sorter *sorter, struct cm_diag *diag)
{
	uint64_t off;
	int rc = 0;

	sort_pool(sorter);
	if (sorter->spill.fd < 0)
		rc = cm_spill_open(&sorter->spill, sorter->dir, diag);
	if (rc >= 0)
		rc = cm_spill_append(&sorter->spill, sorter->pool,
				     sorter->n * sizeof(*sorter->pool), &off, diag);
	if (rc >= 0)
		rc = add_run(sorter, off, sorter->n);
	sorter->n = 0;
	return rc;
}

int cm_sorter_add(struct cm_sorter *sorter, const struct cm_record *record, struct cm_diag *diag)
{
	if (__builtin_expect(sorter->n == sorter->n_room, 0)) {
		int rc = spill_pool(sorter, diag);

		if (rc < 0)
			return rc;
	}
	sorter->pool[sorter->n++] = *record;
	return 0;
}

/* Where an intermediate merge goes: back to the end of the same file. */
struct longer {
	struct cm_sorter *sorter;
	uint64_t n;
};

static int append_longer(void *ctx, const struct cm_record *records, size_t n, struct cm_diag *diag)
{
	struct longer *longer = ctx;
	struct cm_sorter *sorter = longer->sorter;
	uint64_t off;
	int rc = 0;

	/* Collected in the scratch buffer: merging hands out pieces as small as one record. */
	while (n > 0 && rc >= 0) {
		size_t n_free = sorter->n_room - sorter->n;
		size_t n_now = n < n_free ? n : n_free;

		memcpy(sorter->scratch + sorter->n, records, n_now * sizeof(*records));
		sorter->n += n_now;
		longer->n += n_now;
		records += n_now;
		n -= n_now;
		if (sorter->n < sorter->n_room)
			continue;
		rc = cm_spill_append(&sorter->spill, sorter->scratch,
				     sorter->n * sizeof(*sorter->scratch), &off, diag);
		sorter->n = 0;
	}
	return rc;
}

/* Replace the first n runs by one longer one, put at the end of the list. */
static int merge_some(struct cm_sorter *sorter, size_t n, struct cm_diag *diag)
{
	struct cm_merge_run *runs = sorter->runs;
	struct longer longer = {.sorter = sorter};
	uint64_t first = sorter->spill.n_bytes, off;
	int rc;

	rc = cm_merge_runs(&sorter->spill, runs, n, sorter->pool, sorter->n_room, append_longer,
			   &longer, diag);
	if (rc >= 0)
		rc = cm_spill_append(&sorter->spill, sorter->scratch,
				     sorter->n * sizeof(*sorter->scratch), &off, diag);
	sorter->n = 0;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++)
		cm_spill_release(&sorter->spill, runs[i].off, runs[i].n * sizeof(struct cm_record));
	memmove(runs, runs + n, (sorter->n_runs - n) * sizeof(*runs));
	sorter->n_runs -= n;
	return add_run(sorter, first, longer.n);
}

int cm_sorter_merge(struct cm_sorter *sorter,
		    int (*emit)(void *ctx, const struct cm_record *records, size_t n,
				struct cm_diag *diag),
		    void *ctx, struct cm_diag *diag)
{
	size_t n_at_once = cm_merge_max_runs(sorter->n_room);
	int rc = 0;

	if (!sorter->n_runs) {
		sort_pool(sorter);
		return sorter->n ? emit(ctx, sorter->pool, sorter->n, diag) : 0;
	}
	if (sorter->n)
		rc = spill_pool(sorter, diag);
	/* First what is too many, so that the last merge takes a full hand. */
	while (rc >= 0 && sorter->n_runs > n_at_once) {
		size_t n_too_many = sorter->n_runs - n_at_once + 1;

		rc = merge_some(sorter, n_too_many < n_at_once ? n_too_many : n_at_once, diag);
	}
	if (rc >= 0)
		rc = cm_merge_runs(&sorter->spill, sorter->runs, sorter->n_runs, sorter->pool,
				   sorter->n_room, emit, ctx, diag);
	return rc;
}

void cm_sorter_free(struct cm_sorter *sorter)
{
	if (!sorter)
		return;
	cm_spill_close(&sorter->spill);
	free(sorter->runs);
	free(sorter->counts);
	free(sorter->scratch);
	free(sorter->pool);
	free(sorter);
}
