/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a run, once nobody may need it any more. Whoever ends last removes it: `run`, or a
 * process that has outlived it. A contract header.
 *
 * Threads: one at a time; processes: any. What cannot be removed stays, which is all that matters.
 */
#ifndef CALLMARK_COLLECTOR_SPOOL_RUN_H
#define CALLMARK_COLLECTOR_SPOOL_RUN_H

#include <stdbool.h>

/*
 * The folder of the run that the spool at `path` (resolved) lies in, into PATH_MAX bytes; "" where
 * it does not lie in one of ours: a spool that was copied elsewhere.
 */
void cm_spool_run_find(const char *path, char *ret_run_path);

/*
 * The lock of cli/run-folder.h on an ended run: a descriptor to be closed. -EWOULDBLOCK while a
 * `run` stands or somebody else takes over what is left, -ENOENT where there was none, or all went.
 */
int cm_spool_run_lock(const char *run_path);

/* Is there nothing left of an ended run but the files that `run` made? */
bool cm_spool_run_is_bare(const char *run_path);

/* Remove a run's folder if no spool is in it, and `run` has none of its own files there. */
void cm_spool_run_remove(const char *run_path, bool with_matched);

#endif
