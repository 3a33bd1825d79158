/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of `callmark export`; callmark(1) describes their columns.
 *
 * Each writes one table of what is selected to `out`. The guard is armed while the library reads,
 * and may be disarmed by them. Errors: those of cm_results_read_calls; -ENOMEM; -ENODATA where the
 * ranks have no counters; -EIO when writing failed (only calls stop at that; the others leave it to
 * the stream).
 */
#ifndef CALLMARK_CLI_EXPORT_H
#define CALLMARK_CLI_EXPORT_H

#include "cli/export-rows.h"
#include "cli/selection.h"
#include "writer/results.h"

enum cm_export_what {
	CM_EXPORT_DEFAULT, /* likwid where there are counters, else regions */
	CM_EXPORT_LIKWID,
	CM_EXPORT_REGIONS,
	CM_EXPORT_CALLS,
	CM_EXPORT_CALLERS,
	CM_N_EXPORTS,
};

struct cm_export {
	const char *path;   /* of the profile */
	const char *output; /* NULL: stdout */
	enum cm_export_what what;
	enum cm_export_format format;
	struct cm_selection selection;
	struct cm_results *results;
	FILE *out;
};

/* Parse argv as cm_inspect_options_parse does; the struct starts zeroed. */
void cm_export_options_parse(struct cm_export *job, int argc, char **argv);

/* Whether a rank that is selected has counters. */
bool cm_export_has_counters(const struct cm_export *job);

int cm_export_likwid(struct cm_export *job, struct cm_diag *diag);
int cm_export_regions(struct cm_export *job, struct cm_diag *diag);
int cm_export_calls(struct cm_export *job, struct cm_diag *diag);
int cm_export_callers(struct cm_export *job, struct cm_diag *diag);

#endif
