/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start a program and stand in front of it: it sees the terminal, the signals and the dispositions
 * that we were given, and we survive until it has ended.
 *
 *	cm_supervise_init(&supervise);
 *	rc = cm_supervise_start(&supervise, &start, &pid);
 *	rc = cm_supervise_wait(pid, &status);           as often as there are programs
 *	cm_supervise_fini(&supervise);
 *
 * Between init and fini the signals that are forwarded are blocked here and taken one by one.
 * Which ones the program gets from us:
 *   - those that the kernel made (^C, ^Z, ^\, hang-up, window size): none, it is in the same
 *     process group and has them already;
 *   - those that a process sent to us: all. Whether it also sent them to the program (a signal to
 *     the whole group) cannot be known; then the program gets them twice;
 *   - those that the program itself sent (kill 0): none.
 * When the program is stopped by job control, we stop as well, so that the shell takes over; once
 * continued, we continue it.
 *
 * Threads: one, and no other in the process.
 */
#ifndef CALLMARK_CLI_SUPERVISE_H
#define CALLMARK_CLI_SUPERVISE_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct cm_supervise {
	sigset_t old_mask;
	struct sigaction old_child; /* dispositions that were changed here */
	struct sigaction old_pipe;
};

struct cm_start {
	const char *path; /* executed as it is; no search */
	char *const *argv;
	char **envp;
	char *pid_text;	  /* inside envp, CM_PID_TEXT_BYTES: gets the pid in the child, or NULL */
	bool is_text;	  /* no ELF file: where the kernel refuses it, /bin/sh runs it */
	bool new_session; /* away from the launcher's process group */
	bool no_stdio;	  /* stdin and stdout become /dev/null */
	int output_fd;	  /* with no_stdio, becomes stdout and stderr where it is not 0 */
	bool dies_with_us;
	const cpu_set_t *cpus; /* where it may run, or NULL */
};

#define CM_PID_TEXT_BYTES 16

void cm_supervise_init(struct cm_supervise *supervise);
void cm_supervise_fini(const struct cm_supervise *supervise);

/* 0, or the negative errno of fork, pipe or exec; then no process is left behind. */
int cm_supervise_start(const struct cm_supervise *supervise, const struct cm_start *start,
		       pid_t *ret_pid);

/* Until it has ended; the status is waitpid's. -ECHILD when it is not ours to wait for. */
int cm_supervise_wait(pid_t pid, int *ret_status);

/* waitpid's status as a shell tells it: the exit status, or 128 + N for signal N. */
int cm_supervise_exit_status(int status);

#endif
