/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where spools live, and the one safe way to make or trust their folders.
 *
 * A contract header: the preload, the collector and the command line agree on paths through it.
 * No allocation, no stdio; raw system calls where errno would change (it is preserved).
 * Any thread; not hook-safe (system calls).
 */
#ifndef CALLMARK_PRELOAD_SPOOL_PATH_H
#define CALLMARK_PRELOAD_SPOOL_PATH_H

#include <stddef.h>

#include "preload/diag.h"

#define CM_SPOOL_PATH_BYTES 1024
#define CM_SPOOL_MARKERS_PREFIX "markers-" /* LIKWID's marker files in a run's folder (run -g) */

/* The base folder: spool if not NULL or empty, else tmpdir likewise, else "/tmp". Borrowed. */
const char *cm_spool_base(const char *spool, const char *tmpdir);

/*
 * "<base>/callmark-<uid>/<run id>"; a run id's characters other than [A-Za-z0-9._-] become '_', a
 * leading '.' too, and it is cut to 100 bytes. 0; -ENAMETOOLONG; -EINVAL where run_id is empty.
 */
int cm_spool_run_path(const char *base, unsigned long uid, const char *run_id, char *buf,
		      size_t n_bytes);

/*
 * The launcher's id of this run, from PMIX_NAMESPACE, OMPI_MCA_ess_base_jobid, SLURM_JOB_ID with
 * SLURM_STEP_ID ("ID.STEP"), PALS_APID, FLUX_JOB_ID, in this order; "" and 0 where there is none.
 * get(ctx, name) returns a value (borrowed) or NULL, as getenv. Cut at n_bytes - 1. Returns the
 * length.
 */
size_t cm_spool_launcher_run_id(const char *(*get)(void *ctx, const char *name), void *ctx,
				char *buf, size_t n_bytes);

/*
 * Make the user's folder and the run's folder, each 0700. Existing ones are accepted only when
 * they are real folders (no symlink) of the effective user that nobody else can write: -EPERM and
 * a line in diag otherwise. Idempotent. Else the system's error; -EINVAL, -ENAMETOOLONG for what
 * is no such path.
 */
int cm_spool_make_run(const char *run_path, struct cm_diag *diag);

/* Is this existing folder ours to trust (real folder, own uid, not writable by others)? 0/-EPERM */
int cm_spool_check_owner(const char *path, struct cm_diag *diag);

#endif
