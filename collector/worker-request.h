/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The row on its way to callmark-worker: keys and values, each with a NUL behind it, in a memory
 * file. Paths and arguments may have any other byte.
 *
 *	fd = cm_worker_request_write(&row);              who starts it
 *	rc = cm_worker_request_read(&row, fd, &arena);   callmark-worker
 *
 * Threads: any. Errors: negative errno; -EINVAL for what is no request.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_REQUEST_H
#define CALLMARK_COLLECTOR_WORKER_REQUEST_H

#include "collector/worker-run.h"

/* A descriptor of the caller's, close-on-exec. */
int cm_worker_request_write(const struct cm_worker_row *row);

/* timeout_s, folder and is_cancelled are not in it. Owned by the arena. */
int cm_worker_request_read(struct cm_worker_row *row, int fd, struct cm_arena *arena);

#endif
