/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A suite, run row by row, its evidence written row by row.
 *
 *	struct cm_suite_run how = {.helper = path_of_callmark_worker};
 *	rc = cm_suite_run(&how, &suite, "out", &tally, &diag);
 *
 * Rows run one after another, each in a process of its own; the evidence of one is on the disk
 * before the next one starts. Whatever becomes of a row, the next one is run: only evidence that
 * cannot be written ends the run, and a signal.
 *
 * Threads: one at a time in the process (HDF5; and see worker-run.h). Errors: see cm_suite_run().
 */
#ifndef CALLMARK_COLLECTOR_SUITE_RUN_H
#define CALLMARK_COLLECTOR_SUITE_RUN_H

#include <signal.h>

#include "collector/suite-verdict.h"
#include "collector/suite.h"
#include "writer/bundle.h"

struct cm_suite_run {
	const char *helper;			   /* path of callmark-worker */
	const volatile sig_atomic_t *is_cancelled; /* as in worker-run.h; or NULL */
	/* Told of each row once its evidence is written; or NULL. */
	void (*progress)(void *ctx, const struct cm_bundle *bundle);
	void *ctx;
	/* What runs a row; NULL: cm_worker_run(). */
	int (*run_row)(const struct cm_worker_row *row, const char *helper,
		       struct cm_worker_outcome *outcome, struct cm_diag *diag);
};

/*
 * Are the declarations of all rows sound, the affinity included? -EINVAL, and diag names the row
 * and the field. Nothing is run.
 */
int cm_suite_check_rows(const struct cm_suite *suite, struct cm_diag *diag);

/*
 * 0: every row's evidence is in `path`, sealed; the tally says what came of them. -EEXIST: `path`
 * is there, and nothing was run. -EINTR: cancelled. Others: the evidence of a row, which diag
 * names, could not be written; the rows before it are there.
 */
int cm_suite_run(const struct cm_suite_run *how, const struct cm_suite *suite, const char *path,
		 struct cm_suite_tally *tally, struct cm_diag *diag);

#endif
