/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the collector so that the program cannot notice.
 *
 * A child with SIGCHLD as its exit signal would run the program's handler, or be taken by its
 * waitpid(-1), or vanish under SIG_IGN. So an intermediate process without exit signal starts the
 * collector as its own child and waits; we wait for the intermediate with __WALL. It must not exec:
 * exec gives a process SIGCHLD as its exit signal again. Both share our memory until they exec or
 * end (as vfork does), so that a large process need not be copied; each has its own stack.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/exit.h"
#include "preload/memory.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/syscall.h"

#define CM_STACK_BYTES 32768u
#define CM_MAX_VARIABLES 64
#define CM_DIED 126 /* the collector, by a signal: it could not say so itself */

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
	const char *path;
	char *argv[4];
	bool keep_stderr;
	int error;   /* of exec, set in the shared memory */
	char *stack; /* for the collector's process */
};

static char *environment[CM_MAX_VARIABLES + 1];

void cm_exit_keep_environment(char **envp)
{
	static const char *const names[] = {"PATH=", "HOME=", "TMPDIR=",  "TERM=",     "LANG=",
					    "LC_",   "USER=", "COLUMNS=", "NO_COLOR=", "CALLMARK_"};
	int n = 0;

	for (; envp && *envp; envp++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names) && n < CM_MAX_VARIABLES; i++)
			if (!strncmp(*envp, names[i], strlen(names[i])))
				environment[n++] = *envp;
	for (int i = 0; i < n; i++) /* programs overwrite theirs (setproctitle) */
		environment[i] = cm_memory_string(environment[i]);
}

static void default_action(int signal)
{
	struct kernel_action action = {.handler = SIG_DFL};

	(void)cm_sys6(SYS_rt_sigaction, signal, (long)&action, 0, 8, 0, 0); /* valid arguments */
}

/* Descriptors as the collector should have them: none of the program's but its stderr. */
static void set_descriptors(bool keep_stderr)
{
	int null = (int)cm_sys6(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);
	long rc;

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		if (fd != null && (fd < 2 || !keep_stderr))
			(void)cm_sys3(SYS_dup2, null, fd, 0); /* it does without, if need be */
	rc = cm_sys3(SYS_close_range, 3, ~0u, 0);
	for (int fd = 3; rc < 0 && fd < 1024; fd++)
		cm_sys_close(fd);
}

static int run_collector(void *arg)
{
	struct job *job = arg;
	uint64_t none = 0;

	(void)cm_sys3(SYS_setsid, 0, 0, 0); /* a launcher's SIGKILL of its session passes it by */
	set_descriptors(job->keep_stderr);
	default_action(SIGPIPE);
	(void)cm_sys6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, 8, 0, 0);
	job->error = (int)cm_sys3(SYS_execve, (long)job->path, (long)job->argv, (long)environment);
	return 127;
}

static int run_intermediate(void *arg)
{
	struct job *job = arg;
	int status = 0;
	long pid, rc;

	default_action(SIGCHLD);
	pid = cm_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, job->stack + CM_STACK_BYTES, run_collector,
		       job);
	if (pid < 0) {
		job->error = (int)pid;
		return 127;
	}
	do
		rc = cm_sys6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0);
	while (rc == -EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : CM_DIED;
}

int cm_exit_collect(const char *collect, const char *folder)
{
	struct job job = {.path = collect,
			  .argv = {(char *)collect, (char *)"--progress", (char *)folder, NULL},
			  .keep_stderr = cm_say_has_stderr()};
	char *stacks = cm_sys_memory(2 * CM_STACK_BYTES);
	int status = 0;
	long pid, rc;

	if (!*collect)
		return -ENOENT;
	if (!stacks)
		return -ENOMEM;
	job.stack = stacks;
	pid = cm_clone(CLONE_VM | CLONE_VFORK, stacks + 2 * CM_STACK_BYTES, run_intermediate, &job);
	if (pid >= 0) {
		do
			rc = cm_sys6(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0);
		while (rc == -EINTR);
	}
	(void)cm_sys3(SYS_munmap, (long)stacks, 2 * CM_STACK_BYTES,
		      0); /* the process ends anyway */
	if (pid < 0)
		return (int)pid;
	if (job.error < 0)
		return job.error;
	return WIFEXITED(status) && WEXITSTATUS(status) != CM_DIED ? WEXITSTATUS(status) : -ECHILD;
}
