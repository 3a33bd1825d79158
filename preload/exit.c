/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit work. */
#include "preload/exit.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/counters.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/say.h"
#include "preload/syscall.h"
#include "preload/thread.h"

#define CM_WAIT_STEPS 100 /* of 1 ms, for threads that are on a cold path */

static _Atomic bool has_status;
static _Atomic int known_status;

/*
 * From here on nothing is recorded: cold paths look at the state, which is closed by now, after
 * they have said that they are in one; those that were in before are waited for, since they may be
 * moving words to the file. A thread on the fast path may still finish the call it is accounting.
 */
static void freeze(void)
{
	struct timespec step = {.tv_nsec = 1000000};

	for (struct cm_thread *thread = cm_process.threads; thread; thread = thread->other) {
		for (int i = 0; i < CM_WAIT_STEPS && thread != cm_self; i++) {
			if (!atomic_load_explicit(&thread->in_cold, memory_order_seq_cst))
				break;
			(void)cm_sys3(SYS_nanosleep, (long)&step, 0, 0); /* shorter is fine */
		}
		*(struct cm_spool_open *volatile *)&thread->limit = NULL;
		*(uint64_t *volatile *)&thread->ring_end = thread->ring;
	}
}

static void write_end(int status, bool known, const char *note)
{
	struct cm_spool_exit_item item = {
		.item.type = CM_ITEM_EXIT,
		.status = status,
		.has_status = known,
		.tick = cm_clock_now(),
		.n_dropped = atomic_load_explicit(&cm_process.n_dropped, memory_order_relaxed),
	};

	cm_process_append_new();
	if (note)
		cm_process_note(note);
	cm_process_sync(true);
	(void)cm_process_append(&item.item, sizeof(item), NULL, 0); /* readers do without */
}

static void finish(int status, bool known, const char *note)
{
	uint64_t mask;
	uint32_t armed = CM_PROCESS_ARMED;
	static char dir[CM_SPOOL_PATH_BYTES];
	int pid, rc;

	/* A forked child that recorded nothing, or a second time. */
	if (atomic_load_explicit(&cm_process.state, memory_order_relaxed) != armed)
		return;
	/* A vfork child. A sandbox may not let us ask. */
	pid = cm_sys_getpid();
	if ((pid > 0 && pid != cm_process.pid) ||
	    !atomic_compare_exchange_strong_explicit(&cm_process.state, &armed, CM_PROCESS_CLOSED,
						     memory_order_seq_cst, memory_order_relaxed))
		return;
	if (!cm_process.has_spool)
		return;
	mask = cm_sys_block_signals();
	freeze();
	if (cm_lock_timed(&cm_process.lock, CM_WAIT_STEPS)) {
		write_end(status, known, note);
		cm_process_unlock();
	}
	/* Under valgrind the collector's process is a fork after all, and finds cm_process wiped.
	 */
	memcpy(dir, cm_process.dir, sizeof(dir));
	rc = cm_exit_collect(cm_settings.collect, dir);
	cm_sys_restore_signals(mask);
	/* `run` waits for the process it started, collects what is left, and says what fails. */
	if (rc < 0)
		(cm_settings.main_pid == (uint64_t)cm_process.pid ? cm_say_verbose : cm_say)(
			"%s %s (error %d); the data is in %s: callmark recover %s",
			rc == -ECHILD ? "killed:" : "cannot start", cm_settings.collect, -rc, dir,
			dir);
}

static void at_exit(int status, void *arg)
{
	(void)arg;
	finish(status, true, NULL);
}

static void at_quick(void)
{
	cm_counters_close();
	finish(atomic_load_explicit(&known_status, memory_order_relaxed),
	       atomic_load_explicit(&has_status, memory_order_relaxed), NULL);
}

int cm_exit_init(void)
{
	/*
	 * Registered before the program's own handlers and before the loader's (which runs library
	 * destructors), so that these run after all of them.
	 */
	return on_exit(at_exit, NULL) || at_quick_exit(at_quick) ? -ENOMEM : 0;
}

void cm_exit_now(int status)
{
	cm_counters_close();
	finish(status, true, NULL);
	_exit(status);
}

void cm_exit_stop(const char *why)
{
	cm_counters_close();
	finish(0, false, why);
	/* A forked child must not begin, and strict mode takes the time-stamp counter away. */
	cm_record_stop();
	atomic_store_explicit(&cm_process_is_sealed, true, memory_order_seq_cst);
}

void cm_exit_quick(int status)
{
	atomic_store_explicit(&known_status, status, memory_order_relaxed);
	atomic_store_explicit(&has_status, true, memory_order_relaxed);
	quick_exit(status);
}
