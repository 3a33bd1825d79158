/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/spawn.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "preload/syscall.h"

#define CM_STACK_BYTES 32768u
#define CM_DIED 126 /* by a signal: it could not say so itself */
#define CM_TOO_LATE 125

/* clone-x86_64.S: run fn(arg) in a new process on the given stack; its return is the status. */
long cm_clone(unsigned long flags, void *stack_top, int (*fn)(void *arg), void *arg);

/* The kernel's struct sigaction. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

struct job {
	const struct cm_spawn *spawn;
	int error;   /* of exec, set in the shared memory */
	char *stack; /* for the process that execs */
};

static void default_action(int signal)
{
	struct kernel_action action = {.handler = SIG_DFL};

	(void)cm_sys6(SYS_rt_sigaction, signal, (long)&action, 0, 8, 0, 0); /* valid arguments */
}

/* None of the program's descriptors but those that are meant for it. */
static void set_descriptors(const struct cm_spawn *spawn)
{
	int null = (int)cm_sys6(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);
	long rc;

	/* If one of these fails, it does without. */
	if (spawn->output >= 0 && spawn->output != 1)
		(void)cm_sys3(SYS_dup2, spawn->output, 1, 0);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		if (fd != null && (fd != 1 || spawn->output < 0) &&
		    (fd != 2 || !spawn->keep_stderr))
			(void)cm_sys3(SYS_dup2, null, fd, 0);
	rc = cm_sys3(SYS_close_range, 3, ~0u, 0);
	for (int fd = 3; rc < 0 && fd < 1024; fd++)
		cm_sys_close(fd);
}

static int run_program(void *arg)
{
	struct job *job = arg;
	uint64_t none = 0;

	(void)cm_sys3(SYS_setsid, 0, 0, 0); /* a launcher's SIGKILL of its session passes it by */
	set_descriptors(job->spawn);
	default_action(SIGPIPE);
	(void)cm_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8, 0, 0);
	job->error = (int)cm_sys3(SYS_execve, (long)job->spawn->path, (long)job->spawn->argv,
				  (long)job->spawn->envp);
	return 127;
}

/* Its wait status; false: too late, and killed with all that it started. */
static bool wait_for(long pid, unsigned int max_ms, int *ret_status)
{
	struct timespec step = {.tv_nsec = 1000000};
	uint64_t limit = cm_sys_clock_ns(CLOCK_MONOTONIC) + max_ms * UINT64_C(1000000);
	long rc;

	for (;;) {
		rc = cm_sys6(SYS_wait4, pid, (long)ret_status, max_ms ? WNOHANG : 0, 0, 0, 0);
		if (rc && rc != -EINTR)
			return true;
		if (!max_ms)
			continue;
		if (cm_sys_clock_ns(CLOCK_MONOTONIC) > limit)
			break;
		(void)cm_sys3(SYS_nanosleep, (long)&step, 0, 0); /* shorter is fine */
	}
	(void)cm_sys3(SYS_kill, -pid, SIGKILL, 0); /* its session's group: it may be gone by now */
	(void)cm_sys3(SYS_kill, pid, SIGKILL, 0);
	(void)cm_sys6(SYS_wait4, pid, (long)ret_status, 0, 0, 0, 0);
	return false;
}

static int run_intermediate(void *arg)
{
	struct job *job = arg;
	int status = 0;
	long pid;

	default_action(SIGCHLD);
	pid = cm_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, job->stack + CM_STACK_BYTES, run_program,
		       job);
	if (pid < 0) {
		job->error = (int)pid;
		return 127;
	}
	if (!wait_for(pid, job->spawn->max_ms, &status))
		return CM_TOO_LATE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : CM_DIED;
}

int cm_spawn_run(const struct cm_spawn *spawn)
{
	struct job job = {.spawn = spawn};
	char *stacks = cm_sys_memory(2 * CM_STACK_BYTES);
	int status = 0;
	long pid, rc;

	if (!stacks)
		return -ENOMEM;
	job.stack = stacks;
	pid = cm_clone(CLONE_VM | CLONE_VFORK, stacks + 2 * CM_STACK_BYTES, run_intermediate, &job);
	if (pid >= 0) {
		do
			rc = cm_sys6(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0);
		while (rc == -EINTR);
	}
	(void)cm_sys3(SYS_munmap, (long)stacks, 2 * CM_STACK_BYTES, 0); /* address space only */
	if (pid < 0)
		return (int)pid;
	if (job.error < 0)
		return job.error;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == CM_DIED)
		return -ECHILD;
	return WEXITSTATUS(status) == CM_TOO_LATE ? -ETIMEDOUT : WEXITSTATUS(status);
}
