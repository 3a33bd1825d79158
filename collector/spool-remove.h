/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owning and giving up a spool: the lock that keeps two collectors apart, the mark that it has
 * been taken over, and its removal.
 *
 * Threads: one at a time; processes: any. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_SPOOL_REMOVE_H
#define CALLMARK_COLLECTOR_SPOOL_REMOVE_H

#include <stdbool.h>

#include "preload/diag.h"

/*
 * Lock the folder of one process; waits for another collector. Returns a descriptor to be closed
 * (which unlocks), -ENOENT when the folder has gone, -EBUSY when the other one does not end.
 */
int cm_spool_lock(const char *path, struct cm_diag *diag);

/* Was everything taken over already (the collector died before the removal was complete)? */
bool cm_spool_is_done(int dir_fd);

/* Was its process killed while it made the spool? There is nothing in it, not even a head. */
bool cm_spool_is_unborn(int dir_fd);

/* From now on the spool must not be collected again. */
int cm_spool_set_done(int dir_fd);

/* Remove the folder and the files in it; the mark goes last. -errno where something stays. */
int cm_spool_remove(int dir_fd, const char *path);

#endif
