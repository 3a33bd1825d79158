/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callmark-worker: runs one row (worker-run.h) in a process of its own. Started by callmark only:
 *
 *	callmark-worker REQUEST_FD REPLY_FD [STDIN_FD STDOUT_FD STDERR_FD]
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "collector/worker-reply.h"
#include "collector/worker-request.h"
#include "collector/worker-steps.h"

#define N_STREAMS 3

/* -1: no open descriptor. From here on, it is not inherited. */
static int take_fd(const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);

	if (end == text || *end || fd < 0 || fd > 1 << 30 ||
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0)
		return -1;
	return (int)fd;
}

static int run(int request_fd, int reply_fd, const struct cm_worker_streams *streams)
{
	static struct cm_arena arena;
	static struct cm_worker_row row;
	static struct cm_worker_outcome outcome;
	int rc = cm_worker_request_read(&row, request_fd, &arena);

	if (rc == 0)
		rc = cm_worker_steps(&row, reply_fd, streams, &outcome);
	cm_worker_reply_step(reply_fd, CM_STEP_REPLY);
	if (rc == 0)
		rc = cm_worker_reply_write(reply_fd, &outcome);
	/* Nothing is freed: the object's own destructors may still look at it. */
	return rc;
}

int main(int argc, char **argv)
{
	static struct cm_worker_streams streams;
	int fds[2 + N_STREAMS], n = argc - 1, rc = 0;

	if (n != 2 && n != 2 + N_STREAMS) {
		fprintf(stderr, "%s: started by callmark measure and callmark suite only\n",
			CM_WORKER_NAME);
		return 2;
	}
	/* Whoever has started us waits for us: without it nobody wants the result. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < n; i++) {
		fds[i] = take_fd(argv[i + 1]);
		if (fds[i] < 0) {
			fprintf(stderr, "%s: %s is no open descriptor\n", CM_WORKER_NAME,
				argv[i + 1]);
			return 2;
		}
	}
	if (n > 2) {
		rc = cm_worker_streams_init(&streams, fds + 2);
		/* ^C is for the command; its end is ours. */
		(void)signal(SIGINT, SIG_IGN);
		(void)signal(SIGQUIT, SIG_IGN);
	}
	if (rc == 0)
		rc = run(fds[0], fds[1], &streams);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", CM_WORKER_NAME, strerror(-rc));
	return rc < 0 ? 1 : 0;
}
