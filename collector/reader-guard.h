/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID in a child process: it may call exit, crash or hang there, and the parent still has a
 * sensible line to say. Its daemons are gone afterwards.
 *
 *	rc = cm_reader_guard(work, ctx, seconds, &report);
 *	... report->is_done, report->text ...
 *
 * work() runs in the child with stdout and stderr going to report->log_fd. It names each step
 * before it takes it (cm_reader_step), and sets is_done once its result is safe: whatever becomes
 * of the child then does not matter.
 *
 * Threads: none in the process. Errors: negative errno where not even the child could be made.
 */
#ifndef CALLMARK_COLLECTOR_READER_GUARD_H
#define CALLMARK_COLLECTOR_READER_GUARD_H

#include <limits.h>
#include <stdbool.h>

#include "preload/diag.h"

/* Shared by both processes. */
struct cm_reader_report {
	char step[64];
	char library[PATH_MAX]; /* of the liblikwid that was loaded; "" before */
	struct cm_diag diag;	/* why there is no result; "" where there is one */
	bool is_done;
	int log_fd;
};

typedef int (*cm_reader_work)(void *ctx, struct cm_reader_report *report);

/* seconds 0: no limit. The report is valid until the process ends. */
int cm_reader_guard(cm_reader_work work, void *ctx, unsigned int seconds,
		    struct cm_reader_report **ret_report);

void cm_reader_step(struct cm_reader_report *report, const char *step);

#endif
