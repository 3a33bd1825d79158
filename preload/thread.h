/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread needs on the fast path, and the frame that a thunk keeps on the stack.
 *
 * A struct cm_thread lies in memory that a forked child finds zeroed (MADV_WIPEONFORK): zero limits
 * send its first call to the cold path, which starts a process of its own. What must survive a
 * SIGKILL (ring, open calls, totals) lies in the spool's shared mappings that it points to.
 *
 * Signals: a handler may interrupt any instruction here and make intercepted calls itself.
 *   - `next` is balanced: a handler leaves it as it found it, or never returns to us (siglongjmp).
 *   - a ring slot is reserved with one xadd, then filled. The base is read after the reservation:
 *     a handler that moves the base does it behind our slot, or our end lies before the new base
 *     and the call takes the cold path.
 *   - an entry is open from the store to its start (last) until the store of 0 to it (after the
 *     record); the collector knows a call killed between the two by region and start.
 * Cold paths block all signals. Threads never touch one another's struct, but for exit work, and
 * for a fiber that returns on another thread (record-cold.c).
 */
#ifndef CALLMARK_PRELOAD_THREAD_H
#define CALLMARK_PRELOAD_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/spool.h"

#define CM_RING_BYTES (128u << 10)
#define CM_RING_STEP_BYTES (16u << 10) /* given storage at a time: most threads make few calls */
#define CM_TABLE_ENTRIES (256u << 10)
#define CM_RING_SLACK 4 /* words behind ring_end that no call is given: see drain.c */
#define CM_MAX_RINGS 11 /* t<slot>.map, t<slot>.s0 to .s9 */

/* Per region and thread: quota > 0 calls may still be traced; else totals, once they exist. */
struct cm_cell {
	int64_t quota;
	struct cm_spool_totals *totals;
};

/* One ring file of a thread; entry 0 is in t<slot>.map, entry k + 1 is t<slot>.s<k>. */
struct cm_ring_file {
	struct cm_spool_thread *header;
	uint64_t *end;	/* of the words that have storage */
	bool is_pinned; /* full, and a word of it is still to be filled */
};

/* An open marker (markers.h): whose call it is, and what LIKWID was told. */
struct cm_mark {
	uint64_t frame; /* of the call; an identity together with start */
	uint64_t start;
	const struct cm_spool_open *entry; /* NULL: the call is about to begin */
	uint32_t region;
	uint32_t marker;
	uint32_t group;
	uint32_t reserved;
};
#define CM_MAX_MARKS 32

struct cm_thread {
	struct cm_spool_open *next;  /* open calls: entries [table, next) */
	struct cm_spool_open *limit; /* end of the entries that may be used now */
	uint64_t *ring_next;	     /* next free word; may run past ring_end */
	uint64_t *ring_end;	     /* of the part that has storage */
	uint64_t base;		     /* reference point of short records, ticks */
	uint64_t thread_bits;	     /* thread index << 32, as it stands in an open entry */
	struct cm_cell *cells;	     /* [CM_SPOOL_MAX_REGIONS] */
	/* Cold. */
	struct cm_spool_open *table; /* table[-1] is a sentinel above every stack */
	uint64_t *ring;
	struct cm_spool_thread *first;	     /* of t<slot>.map: n_dropped is counted there */
	const struct cm_spool_open *closing; /* the entry that is being accounted */
	const uint64_t *hole; /* that stopped the trace: no ring was left to go on with */
	struct cm_ring_file rings[CM_MAX_RINGS];
	struct cm_thread *other;	/* all threads of the process */
	uint64_t n_populated;		/* entries of the table whose pages exist */
	uint64_t stack_low, stack_high; /* the thread's own stack; 0, 0: not known */
	uint64_t checked_page;		/* last page the kernel found readable */
	char *totals_next, *totals_end; /* free part of the newest piece of t<slot>.tot */
	uint64_t totals_bytes;		/* size of that file */
	uint64_t cpus[16];		/* CPUs seen, a bit each, up to 1,023 */
	uint64_t start;			/* ticks, of its first call */
	char name[16];			/* as the process file has it */
	uint32_t slot;
	uint32_t thread; /* index in the process file */
	int tid;
	uint32_t n_rings;
	uint32_t ring_idx;	  /* of the current one */
	_Atomic uint32_t in_cold; /* exit work waits for it to become 0 */
	uint32_t n_marks;	  /* open markers of this thread, all on mark_cpu */
	uint32_t mark_cpu;
	uint64_t tool_ticks; /* spent in markers so far */
	struct cm_mark marks[CM_MAX_MARKS];
	struct cm_thread_callers *callers; /* callers.h; NULL: no call wanted a path so far */
};

/* At a fixed place in the thunk's stack frame (thunk-x86_64.S). Nobody else's is ever read. */
struct cm_frame {
	struct cm_spool_open *entry; /* CM_NOT_RECORDED: none belongs to this call */
	uint64_t start;		     /* ticks; also the entry's generation */
};
_Static_assert(sizeof(struct cm_frame) == 16, "room in the thunk's frame");

/* Entry 1 of a table at NULL: never the innermost one, also of a thread that fork has wiped. */
#define CM_NOT_RECORDED ((struct cm_spool_open *)sizeof(struct cm_spool_open))

/* Never NULL: at first cm_thread_fresh, whose limit sends it to the cold path. */
extern __thread struct cm_thread *cm_self __attribute__((tls_model("initial-exec")));

/*
 * The calling thread's struct, made if need be (spool files and all). NULL: nothing can be recorded
 * (then a disabled struct is set, so that the next call finds out quickly). Signals blocked.
 */
struct cm_thread *cm_thread_attach(void);

/* Of a thread that has made no call yet, and of one for which nothing can be recorded. */
extern struct cm_thread cm_thread_fresh, cm_thread_disabled;

/* The thread of this process whose table contains the entry, or NULL. Signals blocked. */
struct cm_thread *cm_thread_of_entry(const struct cm_spool_open *entry);

/* One more page of the table. 0, or -ENOSPC where the table or the disk is full. */
int cm_thread_grow_table(struct cm_thread *thread);

/* Is address on the thread's own stack? */
bool cm_thread_on_stack(const struct cm_thread *thread, uint64_t address);

/* Write the thread's name and number to the process file. Lock held, signals blocked. */
void cm_thread_note_name(struct cm_thread *thread);

/* Note the CPU the thread is on; a new one goes to the process file. Signals blocked. */
void cm_thread_note_cpu(struct cm_thread *thread);

/* thread-files.c: signals blocked, lock held. */

/* Make t<slot>.map for a new struct and point it there; 0 or a negative errno. */
int cm_thread_make_map(struct cm_thread *thread);

/* Storage for the next part of the ring. 0; -ENOSPC where all of it has some, or the disk is full.
 */
int cm_thread_grow_ring(struct cm_thread *thread);

/* Make one more ring, empty, for cm_thread_use_ring(); its index, or a negative errno. */
int cm_thread_make_ring(struct cm_thread *thread);

/* Go on in this ring, which holds only zeros, with the stream positions from `stream_base` on. */
void cm_thread_use_ring(struct cm_thread *thread, uint32_t idx, uint64_t stream_base);

/*
 * Map n_bytes more, whole pages of zeros, at the end of t<slot><suffix>, which has `offset` bytes;
 * made when there is none. They never move and have storage, so that no store faults. A negative
 * errno.
 */
int cm_thread_add_piece(const struct cm_thread *thread, const char *suffix, uint64_t offset,
			uint64_t n_bytes, char **ret_piece);

/* Can all of it be read without a fault? Asks the kernel. */
bool cm_thread_can_read(const void *address, size_t n_bytes);

/* Bytes of `n_bytes` at address that can be read without a fault (a multiple of 8). */
uint64_t cm_thread_readable(uint64_t address, uint64_t n_bytes);

#endif
