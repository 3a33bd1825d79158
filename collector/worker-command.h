/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command as the counted function: from its start to its end. In callmark-worker.
 *
 *	cm_worker_streams_init(&streams, in, out, err);       before LIKWID has opened anything
 *	rc = cm_worker_command_run(&command);
 *
 * The command has the streams and the descriptors of the user, none of LIKWID's or ours.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_COMMAND_H
#define CALLMARK_COLLECTOR_WORKER_COMMAND_H

#include <stddef.h>

#include "preload/diag.h"

#define CM_STREAMS_MAX_FDS 1024

struct cm_worker_streams {
	int fds[3];			/* the command's stdin, stdout, stderr */
	int others[CM_STREAMS_MAX_FDS]; /* [n_others] what else it inherits */
	size_t n_others;
};

/* What is open now and not close-on-exec is the user's. -ENFILE: too much of it. */
int cm_worker_streams_init(struct cm_worker_streams *streams, const int *fds);

struct cm_worker_command {
	const char *const *argv;
	const struct cm_worker_streams *streams;
	struct cm_diag diag; /* why it is not 0 */
};

/* 0: it ended with status 0. Else its status, 128+N for signal N, 126 or 127: did not start. */
int cm_worker_command_run(struct cm_worker_command *command);

#endif
