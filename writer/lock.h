/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process at a time may change a run's file: a lock file beside it, `.<name>.lock`.
 *
 * flock(2), so that a killed holder holds nothing. Where the file system has none, the file itself
 * is the lock (O_EXCL), with host and pid inside: one whose process is gone on this host is
 * broken. The file is removed on release. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_WRITER_LOCK_H
#define CALLMARK_WRITER_LOCK_H

#include <limits.h>
#include <stdbool.h>

#include "preload/diag.h"

struct cm_lock {
	int fd; /* -1: not held */
	char path[PATH_MAX];
};

/* Wait at most timeout_ms for the lock of `path`. -ETIMEDOUT, -ENAMETOOLONG, what open(2) says. */
int cm_lock_take(struct cm_lock *lock, const char *path, int timeout_ms, struct cm_diag *diag);

/* Nothing happens on one whose take failed. */
void cm_lock_release(struct cm_lock *lock);

/* The fallback alone, for tests: the same, without flock. */
int cm_lock_take_exclusive(struct cm_lock *lock, const char *path, int timeout_ms,
			   struct cm_diag *diag);

#endif
