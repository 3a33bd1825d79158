/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID marker regions around intercepted calls.
 *
 *	constructor, dlopen -> counters.c: may and should markers be opened? -> armed
 *	cm_thunk -> marker-hook-x86_64.S -> wants, start | enter ... leave, stop	(markers.c)
 *	a tag's first start -> marker-tags.c: registered on every CPU, in one order
 *	destructor, _exit -> counters.c: snapshots, close
 *
 * LIKWID's results belong to CPUs. So a thread that opens its first marker becomes the holder of
 * its CPU until it has closed the last; others go without there, and are counted. A tag is open at
 * most once a thread (recursion opens none). A region is stopped only where it was started. All
 * calls of LIKWID that start or stop on a CPU hold that CPU's lock with signals blocked: a handler
 * could otherwise meet LIKWID's own locks.
 *
 * The state lies in memory that a forked child finds zeroed: it has no markers.
 */
#ifndef CALLMARK_PRELOAD_MARKERS_H
#define CALLMARK_PRELOAD_MARKERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/spool.h"
#include "preload/thread.h"

#define CM_MARKER_CPUS 1024u
#define CM_MAX_MARKERS 4096u
#define CM_MAX_GROUPS 64u
#define CM_LIKWID_TAG_BYTES 96u /* with the NUL; LIKWID reads back 97 with its group's suffix */

struct cm_stub;

enum cm_markers_state {
	CM_MARKERS_NONE = 0, /* also a forked child */
	CM_MARKERS_ARMED,
	CM_MARKERS_LOST,   /* the daemon, or a descriptor, is gone */
	CM_MARKERS_CLOSED, /* the process ends */
};

struct cm_marker {
	char tag[CM_LIKWID_TAG_BYTES];
	uint32_t region;	 /* UINT32_MAX: the program's own */
	bool is_doubtful;	 /* it was open when the daemon was lost */
	_Atomic uint64_t groups; /* in which it is registered, a bit each */
	_Atomic uint32_t n_started[CM_MAX_GROUPS];
};

struct cm_markers {
	_Atomic uint32_t state; /* enum cm_markers_state */
	_Atomic uint32_t group; /* LIKWID's active one */
	uint32_t n_groups;
	uint32_t n_cpus;
	uint16_t cpus[CM_MARKER_CPUS]; /* of LIKWID_THREADS */
	uint8_t is_listed[CM_MARKER_CPUS];
	_Atomic(struct cm_thread *) holders[CM_MARKER_CPUS];
	_Atomic uint32_t locks[CM_MARKER_CPUS];
	_Atomic uint32_t tags_lock; /* taken before any CPU's */
	_Atomic uint32_t n_markers;
	_Atomic uint32_t n_open; /* marks of all threads, and the program's own regions */
	_Atomic bool has_own;	 /* the program opens markers itself: it switches groups */
	uint64_t last_switch;	 /* ticks */
	_Atomic uint64_t skips[CM_N_MARKER_SKIPS];
} __attribute__((aligned(4096)));
extern struct cm_markers cm_markers;
extern struct cm_marker *cm_marker_table; /* [CM_MAX_MARKERS] */

/* 64, 32 or 16: how much of a vector register this machine has (marker-hook-x86_64.S). */
extern uint32_t cm_marker_vector_bytes;

/* Once LIKWID is open: from here on calls get markers. */
void cm_markers_arm(void);

/* Stop what this thread has open; from here on nothing is started. Signals blocked. */
void cm_markers_disarm(void);

/* An exception passes the call of this frame. */
void cm_markers_unwound(struct cm_frame *frame);

/* A dead thread's struct is used again: its CPU is free. Process lock held. */
void cm_markers_release(struct cm_thread *thread);

static inline void cm_markers_skip(enum cm_marker_skip reason)
{
	atomic_fetch_add_explicit(&cm_markers.skips[reason], 1, memory_order_relaxed);
}

/* marker-tags.c: signals blocked, no CPU's lock held. */

/*
 * Index of the region's marker, registered for the active group on all CPUs. -ENOSPC: too many;
 * -EPIPE: the daemon is gone.
 */
int cm_marker_get(uint32_t region);

/* The same for a tag of the program's own. */
int cm_marker_get_own(const char *tag);

/* Switch to the group in which the region has fewest calls, if that can be done now. */
void cm_marker_choose_group(uint32_t region);

/* LIKWID's next group, also where the program asks for it. All CPUs' locks are held. */
void cm_marker_next_group(void);

/* All CPUs' locks, in order; false: not got within a second. */
bool cm_markers_lock_all(void);
void cm_markers_unlock_all(void);

#endif
