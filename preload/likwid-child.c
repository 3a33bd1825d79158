/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's children: access daemons that live as long as the program, and short probes.
 *
 * The program must not find them: `while (wait(NULL) > 0)` would wait for a daemon for ever, and a
 * SIGCHLD handler would see it end. So an intermediate process stands between: made without an exit
 * signal it is found by __WALL only. It never execs (that would give it SIGCHLD back), waits for
 * its child and ends as the child did.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "preload/likwid.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_MAX_CHILDREN 1100 /* a daemon a CPU, and some probes */

static struct {
	int pid, intermediate;
} children[CM_MAX_CHILDREN];
static _Atomic uint32_t lock;

static long clone_process(unsigned long flags)
{
	return cm_sys6(SYS_clone, (long)flags, 0, 0, 0, 0, 0);
}

/* In the intermediate: the child goes on as LIKWID's; returns in it, with 0. */
static int intermediate(_Atomic int *ret_pid)
{
	long pid = clone_process(SIGCHLD), rc;
	int status = 0;

	if (!pid)
		return 0;
	atomic_store_explicit(ret_pid, (int)pid, memory_order_release);
	(void)cm_sys6(SYS_futex, (long)ret_pid, FUTEX_WAKE, 1, 0, 0, 0);
	do
		rc = pid < 0 ? pid : cm_sys6(SYS_wait4, pid, (long)&status, 0, 0, 0, 0);
	while (rc == -EINTR);
	for (;;)
		(void)cm_sys3(SYS_exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 127, 0, 0);
}

/* Remember who stands between; false where there is no room. */
static bool remember(int pid, int between)
{
	bool done = false;

	cm_lock(&lock);
	for (int i = 0; i < CM_MAX_CHILDREN && !done; i++)
		if (!children[i].pid) {
			children[i].pid = pid;
			children[i].intermediate = between;
			done = true;
		}
	cm_unlock(&lock);
	return done;
}

static int forget(int pid)
{
	int between = 0;

	cm_lock(&lock);
	for (int i = 0; i < CM_MAX_CHILDREN && !between; i++)
		if (children[i].pid == pid) {
			between = children[i].intermediate;
			children[i].pid = 0;
		}
	cm_unlock(&lock);
	return between;
}

int cm_likwid_fork(void)
{
	_Atomic int *shared =
		cm_sys_mmap(4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1);
	uint64_t mask;
	long between;
	int pid = 0;

	if (!shared) {
		errno = ENOMEM;
		return -1;
	}
	mask = cm_sys_block_signals();
	between = clone_process(0);
	if (!between && !intermediate(shared)) {
		cm_sys_restore_signals(0); /* ours were blocked for the call, not for the daemon */
		return 0;
	}
	while (between > 0 && !(pid = atomic_load_explicit(shared, memory_order_acquire)))
		(void)cm_sys6(SYS_futex, (long)shared, FUTEX_WAIT, 0, 0, 0, 0);
	(void)cm_sys3(SYS_munmap, (long)shared, 4096, 0); /* address space only */
	if (between < 0)
		pid = (int)between;
	if (pid > 0 && !remember(pid, (int)between))
		pid = -EAGAIN;
	cm_sys_restore_signals(mask);
	if (pid > 0)
		return pid;
	errno = -pid;
	return -1;
}

int cm_likwid_waitpid(int pid, int *ret_status, int options)
{
	int between = forget(pid);
	long rc;

	rc = cm_sys6(SYS_wait4, between ? between : pid, (long)ret_status,
		     between ? options | __WALL : options, 0, 0, 0);
	if (between && rc <= 0)
		(void)remember(pid, between); /* there was room a moment ago */
	if (rc < 0) {
		errno = (int)-rc;
		return -1;
	}
	return rc ? pid : 0;
}
