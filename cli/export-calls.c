/* SPDX-License-Identifier: BSD-3-Clause */
/* Every recorded call, read and written one slice at a time: memory does not grow with them. */
#include <errno.h>
#include <stdlib.h>

#include "cli/export.h"
#include "cli/guard.h"
#include "cli/terminal.h"

#define SLICE 65536

static const char *const names[] = {"rank", "region", "thread", "start_ns", "end_ns"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

struct calls {
	struct cm_export *job;
	struct cm_rows rows;
	struct cm_progress progress;
	uint64_t n_done;
	uint64_t n_all;
	int64_t starts[SLICE];
	int64_t ends[SLICE];
	int32_t threads[SLICE];
};

static bool is_selected(const struct cm_export *job, const struct cm_result_rank *rank,
			size_t region_idx)
{
	return cm_rank_set_has(&job->selection.ranks, rank->rank) &&
	       cm_filter_matches(&job->selection.filter, rank->regions[region_idx].stats.tag);
}

static void put_slice(struct calls *calls, const char *rank, const char *tag, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		cm_rows_prepared(&calls->rows, rank);
		cm_rows_prepared(&calls->rows, tag);
		if (calls->threads[i] >= 0)
			cm_rows_int(&calls->rows, calls->threads[i]);
		else
			cm_rows_unknown(&calls->rows);
		cm_rows_int(&calls->rows, calls->starts[i]);
		cm_rows_int(&calls->rows, calls->ends[i]);
	}
	calls->n_done += n;
	cm_progress_show(&calls->progress, calls->n_done, calls->n_all);
}

static int put_region(struct calls *calls, size_t rank_idx, size_t region_idx, struct cm_diag *diag)
{
	const struct cm_result_rank *rank = cm_results_rank(calls->job->results, rank_idx);
	const struct cm_result_region *region = &rank->regions[region_idx];
	char *tag = cm_rows_prepare(&calls->rows, region->stats.tag), number[32];
	uint64_t first;
	size_t n;
	int rc = 0;

	snprintf(number, sizeof(number), "%ld", (long)rank->rank);
	for (first = 0; rc >= 0 && first < region->n_calls; first += n) {
		n = region->n_calls - first < SLICE ? region->n_calls - first : SLICE;
		cm_guard_go_on();
		rc = cm_results_read_calls(calls->job->results, rank_idx, region_idx, first, n,
					   calls->starts, calls->ends, calls->threads, diag);
		if (rc >= 0)
			put_slice(calls, number, tag, n);
		if (rc >= 0 && ferror(calls->job->out))
			rc = -EIO;
	}
	free(tag);
	return rc;
}

/* All calls of the regions selected, or, before that, their number. */
static int put_all(struct calls *calls, bool is_counting, struct cm_diag *diag)
{
	struct cm_export *job = calls->job;
	const struct cm_result_rank *rank;
	size_t i, k;
	int rc = 0;

	for (i = 0; i < cm_results_n_ranks(job->results); i++) {
		rank = cm_results_rank(job->results, i);
		for (k = 0; rc >= 0 && k < rank->n_regions; k++) {
			if (!is_selected(job, rank, k))
				continue;
			if (is_counting)
				calls->n_all += rank->regions[k].n_calls;
			else
				rc = put_region(calls, i, k, diag);
		}
	}
	return rc;
}

int cm_export_calls(struct cm_export *job, struct cm_diag *diag)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	int rc;

	if (!calls)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	calls->job = job;
	(void)put_all(calls, true, diag); /* counting cannot fail */
	cm_rows_begin(&calls->rows, job->out, job->format, names, N_NAMES);
	cm_progress_init(&calls->progress, "reading traces");
	rc = put_all(calls, false, diag);
	cm_progress_fini(&calls->progress);
	if (cm_rows_end(&calls->rows) < 0 && rc >= 0)
		rc = cm_diag_set(diag, -ENOMEM, "out of memory");
	free(calls);
	return rc;
}
