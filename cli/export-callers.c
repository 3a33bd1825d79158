/* SPDX-License-Identifier: BSD-3-Clause */
/* From where regions were entered: a row for each rank, region and call path. */
#include <errno.h>
#include <stdlib.h>

#include "cli/export.h"
#include "cli/guard.h"

static const char *const names[] = {"rank", "region", "path", "calls", "total_ns"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void put_region(struct cm_rows *rows, int64_t rank, const struct cm_profile_region *region)
{
	char *tag = cm_rows_prepare(rows, region->tag);
	size_t i;

	if (!tag)
		rows->is_bad = true;
	for (i = 0; tag && i < region->n_paths; i++) {
		cm_rows_int(rows, rank);
		cm_rows_prepared(rows, tag);
		cm_rows_text(rows, region->path_frames[i]);
		cm_rows_unsigned(rows, region->path_calls[i]);
		cm_rows_int(rows, region->path_total_ns[i]);
	}
	free(tag);
}

int cm_export_callers(struct cm_export *job, struct cm_diag *diag)
{
	struct cm_rows rows;
	size_t i, k;

	cm_guard_disarm(); /* everything is in memory */
	cm_rows_begin(&rows, job->out, job->format, names, N_NAMES);
	for (i = 0; i < cm_results_n_ranks(job->results); i++) {
		const struct cm_result_rank *rank = cm_results_rank(job->results, i);

		if (!cm_rank_set_has(&job->selection.ranks, rank->rank))
			continue;
		for (k = 0; k < rank->n_regions; k++)
			if (cm_filter_matches(&job->selection.filter, rank->regions[k].stats.tag))
				put_region(&rows, rank->rank, &rank->regions[k].stats);
	}
	return cm_rows_end(&rows) < 0 ? cm_diag_set(diag, -ENOMEM, "out of memory") : 0;
}
