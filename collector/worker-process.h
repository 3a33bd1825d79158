/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process with a deadline, from its start until nothing of it is left.
 *
 *	rc = cm_worker_process_run(&process, &diagnostics, &diag);
 *
 * It leads a process group of its own. At the deadline the group gets SIGTERM, 2 s later SIGKILL;
 * when the process has ended, what is left in the group is killed, and then whatever has left the
 * group and became ours. A command that reads the terminal gets it.
 *
 * Threads: one, and no other child of the process is running. Errors: negative errno and a line.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_PROCESS_H
#define CALLMARK_COLLECTOR_WORKER_PROCESS_H

#include "collector/worker-run.h"

struct cm_worker_process {
	const char *helper;
	const char *folder; /* working directory; NULL: ours */
	int request_fd;	    /* the worker inherits both under these numbers */
	int reply_fd;
	bool is_command; /* has our stdin, stdout and stderr, and other descriptors */
	unsigned int timeout_s;
	const volatile sig_atomic_t *is_cancelled; /* or NULL */
};

/*
 * 0: it has ended, how is in the diagnostics (pid, wait_status, is_timed_out, elapsed_s, tail).
 * -EINTR: cancelled; it has ended, too.
 */
int cm_worker_process_run(const struct cm_worker_process *process,
			  struct cm_worker_diagnostics *diagnostics, struct cm_diag *diag);

/* Kill and reap every child of this process, theirs when they become ours, for `seconds` at most.
 */
void cm_worker_process_kill_children(unsigned int seconds);

#endif
