/* SPDX-License-Identifier: BSD-3-Clause */
/* The statistics that `callmark inspect` shows: a row for each rank and region. */
#include <errno.h>

#include "cli/export.h"
#include "cli/guard.h"
#include "cli/inspect-model.h"

static const char *const names[] = {
	"rank",		  "region",	"library",   "symbols",	    "calls",	     "completed",
	"traced",	  "total_ns",	"min_ns",    "max_ns",	    "avg_ns",	     "std_ns",
	"share",	  "p50_ns",	"p50_exact", "p95_ns",	    "p95_exact",     "p99_ns",
	"p99_exact",	  "sum_sq_ns2", "tool_ns",   "unwound",	    "skipped",	     "open",
	"dropped_events", "backwards",	"histogram", "source_file", "source_lineno",
};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

static void put_known(struct cm_rows *rows, bool is_known, int64_t value)
{
	if (is_known)
		cm_rows_int(rows, value);
	else
		cm_rows_unknown(rows);
}

static void put_real(struct cm_rows *rows, double value)
{
	if (value == value)
		cm_rows_real(rows, value);
	else
		cm_rows_unknown(rows);
}

static void put_times(struct cm_rows *rows, const struct cm_inspect_region *region)
{
	const struct cm_inspect_percentile *percentile = region->percentiles;

	cm_rows_int(rows, region->stats.total_ns);
	put_known(rows, region->n_completed, region->stats.min_ns);
	put_known(rows, region->n_completed, region->stats.max_ns);
	put_real(rows, region->avg_ns);
	put_real(rows, region->std_ns);
	put_real(rows, region->share);
	for (; percentile < region->percentiles + CM_N_PERCENTILES; percentile++) {
		if (percentile->ns == percentile->ns) {
			cm_rows_unsigned(rows, percentile->ns < 0x1p63 ? (uint64_t)percentile->ns
								       : INT64_MAX);
			cm_rows_bool(rows, percentile->is_exact);
		} else {
			cm_rows_unknown(rows);
			cm_rows_unknown(rows);
		}
	}
	cm_rows_real(rows, region->stats.sum_sq_ns2);
}

static void put_region(struct cm_rows *rows, int64_t rank, const struct cm_inspect_region *region)
{
	const struct cm_profile_region *stats = &region->stats;
	size_t n_buckets = CM_PROFILE_N_BUCKETS;

	cm_rows_int(rows, rank);
	cm_rows_text(rows, stats->tag);
	cm_rows_text(rows, stats->library);
	cm_rows_texts(rows, stats->symbols, stats->n_symbols);
	cm_rows_unsigned(rows, stats->calls);
	cm_rows_unsigned(rows, region->n_completed);
	cm_rows_unsigned(rows, region->n_traced);
	put_times(rows, region);
	cm_rows_int(rows, stats->tool_ns);
	cm_rows_unsigned(rows, stats->unwound);
	cm_rows_unsigned(rows, stats->skipped);
	cm_rows_unsigned(rows, stats->open);
	cm_rows_unsigned(rows, stats->dropped_events);
	cm_rows_unsigned(rows, region->n_backwards);
	while (n_buckets && !stats->histogram[n_buckets - 1])
		n_buckets--;
	cm_rows_counts(rows, stats->histogram, n_buckets);
	if (stats->source_file)
		cm_rows_text(rows, stats->source_file);
	else
		cm_rows_unknown(rows);
	put_known(rows, stats->source_file != NULL, stats->source_lineno);
}

int cm_export_regions(struct cm_export *job, struct cm_diag *diag)
{
	/* A borrowed copy of the selection: nothing of it is given back here. */
	const struct cm_inspect_options options = {.selection = job->selection};
	const struct cm_inspect_section *section;
	struct cm_inspection inspection = {0};
	struct cm_rows rows;
	size_t i, k;
	int rc;

	rc = cm_inspection_build(&inspection, job->results, &options, diag);
	cm_guard_disarm(); /* everything is in memory */
	if (rc >= 0) {
		cm_rows_begin(&rows, job->out, job->format, names, N_NAMES);
		for (i = 0; i < inspection.n_sections; i++) {
			section = &inspection.sections[i];
			for (k = 0; section->rank && k < section->n_regions; k++)
				put_region(&rows, section->rank->rank, &section->regions[k]);
		}
		if (cm_rows_end(&rows) < 0)
			rc = cm_diag_set(diag, -ENOMEM, "out of memory");
	}
	cm_inspection_fini(&inspection);
	return rc;
}
