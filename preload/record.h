/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording a call: the hooks that the thunk runs before and after the original.
 *
 * Fast path (record.c): about 25 instructions each, no system call, no lock, no vector register.
 * Everything else is the cold path (record-cold.c): signals blocked, still no vector register.
 * Both preserve errno (they never touch it).
 */
#ifndef CALLMARK_PRELOAD_RECORD_H
#define CALLMARK_PRELOAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/thread.h"

struct cm_stub;

/* Opens the call and returns the original's address. Set by cm_record_init. */
extern void *(*cm_hook_enter)(const struct cm_stub *stub, struct cm_frame *frame);

/* Closes and accounts the call. */
extern void (*cm_hook_exit)(struct cm_frame *frame);

/* The hooks call LIKWID: who relies on more than its arguments must keep them (the thunk). */
extern bool cm_hooks_use_vectors;

/*
 * Choose the hooks for cm_clock_kind; until then they only pass through. has_callers: with those
 * that keep call paths (callers.h). Init only.
 */
void cm_record_init(bool has_callers);

/* Where to put a hook that is around cm_hook_enter, but not around the capture of a call path. */
void *(**cm_record_inner_enter(void))(const struct cm_stub *stub, struct cm_frame *frame);

/* From here on calls only pass through, as before. Any thread. */
void cm_record_stop(void);

/* The calling thread, attached if need be; NULL: its calls cannot be recorded. Signals blocked. */
struct cm_thread *cm_record_thread(void);

/* The cold continuations. */
void *cm_record_enter_cold(const struct cm_stub *stub, struct cm_frame *frame);
void cm_record_exit_cold(struct cm_frame *frame, uint64_t end);
void cm_record_call_cold(struct cm_thread *thread, struct cm_spool_open *entry, uint64_t end);

/* The call behind this frame is being unwound: close it as such, if it is open. */
void cm_record_unwound(struct cm_frame *frame);

/*
 * Add one call to a totals block; single instructions each, so that handlers may interrupt. Before
 * the call is counted *mark becomes what its open entry's frame must be from then on (spool.h).
 */
void cm_record_total(struct cm_spool_totals *totals, uint64_t duration, uint64_t *mark);

/* drain.c: all with signals blocked. */

/*
 * Room for n words (1..3) in the ring, draining or adding a segment where need be.
 * NULL: the stream cannot be written; the ring's calls have been moved to the totals.
 */
uint64_t *cm_drain_reserve(struct cm_thread *thread, unsigned int n_words);

/*
 * Was the call behind this entry, left by longjmp, recorded before? A handler that interrupts a
 * call between its record and its release, and jumps out, leaves such an entry.
 */
bool cm_drain_has_recorded(const struct cm_thread *thread, const struct cm_spool_open *entry);

/* The thread is gone: nobody fills what it had reserved. Its last ring stays in use. */
void cm_drain_abandon(struct cm_thread *thread);

/* totals.c: the block of (thread, region), made if need be; NULL where the disk is full. */
struct cm_spool_totals *cm_totals_get(struct cm_thread *thread, uint32_t region);

#endif
