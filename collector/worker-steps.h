/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of one row, in callmark-worker: checks, load, perf_setup, probes, window, oracle,
 * perf_cleanup; or checks and a command's window.
 *
 *	rc = cm_worker_steps(&row, reply_fd, &streams, &outcome);
 *	cm_worker_reply_write(reply_fd, &outcome);
 *
 * The code of the worker object runs here: it may end the process at any point. Errors: -ENOMEM;
 * all else is in the outcome.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_STEPS_H
#define CALLMARK_COLLECTOR_WORKER_STEPS_H

#include "collector/worker-command.h"
#include "collector/worker-run.h"

int cm_worker_steps(const struct cm_worker_row *row, int reply_fd,
		    const struct cm_worker_streams *streams, struct cm_worker_outcome *outcome);

/* Inert: failed, no window, nothing checked, no text NULL. In worker-outcome.c. */
int cm_worker_outcome_init(struct cm_worker_outcome *outcome, const struct cm_worker_row *row);

#endif
