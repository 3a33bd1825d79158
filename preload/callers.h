/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callers=N: from where a region is entered.
 *
 *	cm_hook_enter -> cm_callers_capture()	before the start is read, and before any marker
 *	enter		 keeps what it returns beside the open entry
 *	leave, or any cold way in which a call is accounted: one call more of that path
 *
 * Frames are walked by the unwind tables (frame-rule.h), not by libunwind: that uses vector
 * registers, takes locks, the loader's among them, and blocks signals. A path that was seen before
 * is found without a lock (paths.h); its totals are the thread's own, in a shared mapping.
 *
 * What a thread needs for it lies beside its struct cm_thread, and goes with it in a forked child.
 * Only where some rule has callers=N is any of this called: the hooks are others then (record.c).
 */
#ifndef CALLMARK_PRELOAD_CALLERS_H
#define CALLMARK_PRELOAD_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/rules.h"
#include "preload/spool.h"
#include "preload/thread.h"

#define CM_PATH_BLOCK_BITS 10
#define CM_PATH_BLOCKS 1024u /* of 1,024 totals each */
#define CM_CHECKED_PAGES 16u

struct cm_stub;

/* Kept a thread, once it has made a call that wanted a path. */
struct cm_thread_callers {
	struct cm_spool_path_total **blocks[CM_PATH_BLOCKS]; /* by path index */
	char *totals_next, *totals_end;			     /* free part of t<slot>.pth */
	uint64_t totals_bytes;				     /* size of that file */
	uint64_t n_failed; /* times that it could not grow: the disk is full */
	uint64_t stack;	   /* on which pages were checked last; 64 KiB */
	uint64_t checked_pages[CM_CHECKED_PAGES];	    /* that the kernel found readable */
	struct cm_spool_path_total *open[CM_TABLE_ENTRIES]; /* beside the open calls; or NULL */
};

/* The registers of a frame that is about to go on at pc, and what of its stack can be read. */
struct cm_callers_frame {
	uint64_t pc, rsp, rbp;
	bool is_exact; /* pc is where a signal interrupted, not behind a call */
	bool has_rbp;
};

/* What the thunk of this frame returns to. */
struct cm_callers_frame cm_callers_start(const struct cm_frame *frame);

/*
 * Up to max addresses of the frames from `start` on, innermost first, ours left out; *ret_flags:
 * CM_PATH_CUT, CM_PATH_LIMIT. Frames that were interrupted are given by their address + 1, so that
 * all addresses less 1 are within the instruction that is being executed; the kernel's own frame
 * between a handler and what it interrupted is left out. hook-safe.
 */
uint32_t cm_callers_walk(const struct cm_callers_frame *start, uint32_t max, uint64_t *frames,
			 uint32_t *ret_flags);

/*
 * Before a call: the totals of its path, made if need be; NULL: its region wants none, or none can
 * be had. hook-safe.
 */
struct cm_spool_path_total *cm_callers_capture(const struct cm_stub *stub,
					       const struct cm_frame *frame);

/* The totals that were kept beside an entry of the owner's table; NULL: none. */
static inline struct cm_spool_path_total *cm_callers_of(const struct cm_thread *owner,
							const struct cm_spool_open *entry)
{
	return owner->callers ? owner->callers->open[entry - owner->table] : NULL;
}

/*
 * A call was accounted outside the fast path by `thread`. total, which may be NULL, may belong to
 * another one (is_foreign): its path is what counts. Signals blocked.
 */
void cm_callers_account(struct cm_thread *thread, struct cm_spool_path_total *total,
			bool is_foreign, uint64_t ticks);

/* path-totals.c: the totals of a path on this thread, made if need be; NULL where there is no room.
 * Signals blocked. */
struct cm_spool_path_total *cm_path_total_get(struct cm_thread *thread, uint32_t path);

/* The same if they are there. */
static inline struct cm_spool_path_total *
cm_path_total_find(const struct cm_thread_callers *callers, uint32_t path)
{
	struct cm_spool_path_total **block = callers->blocks[path >> CM_PATH_BLOCK_BITS];

	return block ? block[path & ((1u << CM_PATH_BLOCK_BITS) - 1)] : NULL;
}

/* One call more; single instructions, so that handlers may interrupt. */
static inline __attribute__((always_inline)) void
cm_path_total_add(struct cm_spool_path_total *total, uint64_t ticks)
{
	__asm__ volatile("incq %0" : "+m"(total->n_calls) : : "memory", "cc");
	__asm__ volatile("addq %1, %0" : "+m"(total->total_ticks) : "r"(ticks) : "memory", "cc");
}

#endif
