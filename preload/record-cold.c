/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cold path of a call: first calls, other stacks, longjmp, forked children, long intervals.
 *
 * Signals are blocked around every change (a handler could not otherwise make intercepted calls
 * without meeting a half-changed thread); no libc function is called, so no vector register and
 * no errno changes hands.
 */
#include "preload/callers.h"
#include "preload/clock.h"
#include "preload/markers.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define CM_QUOTA_CHUNK 4096
#define CM_HOLE UINT64_MAX /* frame of an entry closed out of order: above every stack */

/* As struct sigaltstack; <signal.h> would bring functions that must not be called here. */
struct alternate_stack {
	void *address;
	int flags;
	size_t n_bytes;
};
#define CM_ON_ALTERNATE 1

static uint64_t begin(struct cm_thread *thread)
{
	uint64_t mask = cm_sys_block_signals();

	if (thread)
		atomic_store_explicit(&thread->in_cold, 1, memory_order_seq_cst);
	return mask;
}

static void end_cold(struct cm_thread *thread, uint64_t mask)
{
	if (thread)
		atomic_store_explicit(&thread->in_cold, 0, memory_order_release);
	cm_sys_restore_signals(mask);
}

static bool is_closed(void)
{
	return atomic_load_explicit(&cm_process.state, memory_order_seq_cst) == CM_PROCESS_CLOSED ||
	       atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed);
}

/* Take calls of this process's allowance for the region; false when it is spent. */
static bool refill(struct cm_cell *cell, uint32_t idx)
{
	struct cm_region *region = &cm_regions[idx];
	int64_t left;

	if (!region->max_events)
		return false;
	if (region->max_events > INT64_MAX) {
		cell->quota = INT64_MAX;
		return true;
	}
	left = atomic_fetch_sub_explicit(&region->quota_left, CM_QUOTA_CHUNK, memory_order_relaxed);
	if (left <= 0) {
		atomic_fetch_add_explicit(&region->quota_left, CM_QUOTA_CHUNK,
					  memory_order_relaxed);
		return false;
	}
	cell->quota = left < CM_QUOTA_CHUNK ? left : CM_QUOTA_CHUNK;
	return true;
}

static void account_total(struct cm_thread *thread, uint32_t region, uint64_t duration,
			  unsigned int flags, bool lost, uint64_t *mark)
{
	struct cm_spool_totals *totals = cm_totals_get(thread, region);

	if (!totals) {
		thread->first->n_dropped++;
		return;
	}
	cm_record_total(totals, duration, mark);
	totals->n_unwound += !!(flags & CM_CALL_UNWOUND);
	totals->n_skipped += !!(flags & CM_CALL_SKIPPED);
	totals->n_lost += lost;
}

/* A call as LONG or HUGE record; the base moves to its end. false: no room. */
static bool write_long(struct cm_thread *thread, uint32_t region, uint64_t start, uint64_t duration,
		       unsigned int flags)
{
	bool is_huge = duration >> CM_WORD_LONG_DURATION_BITS;
	uint64_t *words = cm_drain_reserve(thread, is_huge ? 3 : 2);
	uint64_t head = (uint64_t)flags << CM_WORD_FLAGS_SHIFT | (uint64_t)region
									 << CM_WORD_REGION_SHIFT;

	if (!words)
		return false;
	words[0] = head | (is_huge ? (uint64_t)CM_WORD_HUGE << CM_WORD_KIND_SHIFT
				   : (uint64_t)CM_WORD_LONG << CM_WORD_KIND_SHIFT | duration);
	words[1] = start + duration;
	if (is_huge)
		words[2] = start;
	thread->base = start + duration;
	return true;
}

static bool write_short(struct cm_thread *thread, uint32_t region, uint64_t start,
			uint64_t duration)
{
	uint64_t *word = cm_drain_reserve(thread, 1);
	uint64_t offset;

	if (!word)
		return false;
	/* Draining may have reset the base. */
	offset = start + duration - thread->base;
	if (offset >> CM_WORD_SHORT_OFFSET_BITS) {
		*word = (uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT;
		return write_long(thread, region, start, duration, 0);
	}
	*word = CM_WORD_SHORT_BIT | (uint64_t)region << CM_WORD_SHORT_REGION_SHIFT |
		duration << CM_WORD_SHORT_DURATION_SHIFT | offset;
	return true;
}

static uint64_t ticks_between(uint64_t start, uint64_t end)
{
	return (int64_t)(end - start) < 0 ? 0 : end - start; /* unequal TSCs */
}

/* The one place that accounts a call outside the fast path. Signals blocked. */
static void account(struct cm_thread *thread, uint32_t region, uint64_t start, uint64_t end,
		    unsigned int flags, uint64_t *mark)
{
	struct cm_cell *cell = &thread->cells[region];
	uint64_t duration = ticks_between(start, end);
	uint64_t offset = start + duration - thread->base;
	bool ok;

	cm_thread_note_cpu(thread);
	if (cell->quota <= 0 && !refill(cell, region)) {
		account_total(thread, region, duration, flags, false, mark);
		return;
	}
	if (flags || duration >> CM_WORD_SHORT_DURATION_BITS || offset >> CM_WORD_SHORT_OFFSET_BITS)
		ok = write_long(thread, region, start, duration, flags);
	else
		ok = write_short(thread, region, start, duration);
	if (ok)
		cell->quota--;
	else
		account_total(thread, region, duration, flags, true, mark);
}

/*
 * A handler or an asynchronous cancellation that stops a thread between a call's record and its
 * release leaves an open entry behind, as a SIGKILL does (spool.h).
 */
static bool is_accounted(const struct cm_thread *thread, const struct cm_spool_open *entry)
{
	const struct cm_spool_totals *totals = thread->cells[entry->region].totals;

	if (entry->frame & CM_OPEN_COUNTED_BIT)
		return totals && ((totals->pending ^ entry->frame) & CM_PENDING_COUNT_MASK);
	return cm_drain_has_recorded(thread, entry);
}

static void close_entry(struct cm_thread *thread, struct cm_spool_open *entry, uint64_t end,
			unsigned int flags)
{
	if (flags && is_accounted(thread, entry)) {
		entry->start = 0;
		return;
	}
	thread->closing = entry;
	account(thread, entry->region, entry->start, end, flags, &entry->frame);
	cm_callers_account(thread, cm_callers_of(thread, entry), false,
			   ticks_between(entry->start, end));
	thread->closing = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	entry->start = 0;
}

/* Both on the thread's own stack, and the entry's frame lies where the newer one already is. */
static bool is_left_behind(const struct cm_thread *thread, const struct cm_spool_open *entry,
			   uint64_t frame)
{
	return entry->start && entry->frame <= frame && cm_thread_on_stack(thread, entry->frame) &&
	       cm_thread_on_stack(thread, frame);
}

static bool on_alternate_stack(void)
{
	struct alternate_stack stack = {0};

	(void)cm_sys3(SYS_sigaltstack, 0, (long)&stack, 0); /* cannot fail with these arguments */
	return stack.flags & CM_ON_ALTERNATE;
}

/* A new call begins at `frame`: calls that longjmp left behind end here, holes on top vanish. */
static void drop_left_behind(struct cm_thread *thread, uint64_t frame)
{
	struct cm_spool_open *last = thread->next - 1;
	uint64_t now = cm_clock_now();
	uint64_t mask;

	if (last < thread->table || !is_left_behind(thread, last, frame))
		return;
	mask = begin(thread);
	if (!is_closed() && !on_alternate_stack()) {
		for (; last >= thread->table; thread->next = last--) {
			if (is_left_behind(thread, last, frame))
				close_entry(thread, last, now, CM_CALL_SKIPPED);
			else if (last->start || last->frame != CM_HOLE)
				break;
		}
	}
	end_cold(thread, mask);
}

/* Room for one more open call; holes on top are taken back first. */
static bool make_room(struct cm_thread *thread)
{
	uint64_t mask = begin(thread);
	bool ok;

	while (thread->next > thread->table && thread->next[-1].frame == CM_HOLE &&
	       !thread->next[-1].start)
		thread->next--;
	ok = !is_closed() && (thread->next < thread->limit || !cm_thread_grow_table(thread));
	end_cold(thread, mask);
	return ok;
}

static struct cm_thread *attach(void)
{
	uint64_t mask = begin(NULL);
	struct cm_thread *thread;

	if (atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_NEW)
		cm_process_renew();
	thread = cm_thread_attach();
	cm_sys_restore_signals(mask);
	return thread;
}

struct cm_thread *cm_record_thread(void)
{
	struct cm_thread *thread = cm_self;

	if (thread->first)
		return thread;
	/* Tried before, and still the same process. */
	if (thread == &cm_thread_disabled &&
	    atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_ARMED)
		return NULL;
	return attach();
}

void *cm_record_enter_cold(const struct cm_stub *stub, struct cm_frame *frame)
{
	struct cm_thread *thread;
	struct cm_spool_open *entry;

	frame->entry = CM_NOT_RECORDED;
	if (is_closed())
		return stub->original;
	thread = cm_record_thread();
	if (thread)
		drop_left_behind(thread, (uint64_t)frame);
	if (!thread || (thread->next >= thread->limit && !make_room(thread))) {
		atomic_fetch_add_explicit(&cm_process.n_dropped, 1, memory_order_relaxed);
		return stub->original;
	}
	entry = thread->next++;
	atomic_signal_fence(memory_order_seq_cst);
	entry->frame = (uint64_t)frame;
	entry->region = stub->region;
	entry->thread = thread->thread;
	entry->scratch = thread->tool_ticks;
	frame->entry = entry;
	if (thread->callers) /* the hook has left it there (record.c) */
		thread->callers->open[entry - thread->table] =
			(struct cm_spool_path_total *)frame->start;
	atomic_signal_fence(memory_order_seq_cst);
	frame->start = cm_clock_now();
	entry->start = frame->start;
	return stub->original;
}

void cm_record_call_cold(struct cm_thread *thread, struct cm_spool_open *entry, uint64_t end)
{
	uint64_t mask;

	if (is_closed())
		return; /* without a system call: it may not be allowed */
	mask = begin(thread);
	if (!is_closed()) {
		close_entry(thread, entry, end, 0);
		thread->next = entry;
	}
	end_cold(thread, mask);
}

/* Close an entry that need not be the innermost: those above it on this stack were skipped. */
static void close_below(struct cm_thread *thread, struct cm_spool_open *entry, uint64_t end,
			unsigned int flags)
{
	for (struct cm_spool_open *above = thread->next - 1; above > entry; above--)
		if (is_left_behind(thread, above, entry->frame)) {
			close_entry(thread, above, end, CM_CALL_SKIPPED);
			above->frame = CM_HOLE;
		}
	close_entry(thread, entry, end, flags);
	entry->frame = CM_HOLE;
	while (thread->next > entry && !thread->next[-1].start)
		thread->next--;
}

/*
 * A fiber that began on another thread returns on this one. A call that was opened before a fork
 * lies in no table of this process: the parent accounts it.
 */
static void close_foreign(struct cm_thread *thread, struct cm_frame *frame, uint64_t end,
			  unsigned int flags)
{
	struct cm_spool_open *entry = frame->entry;
	uint64_t expected = frame->start;
	const struct cm_thread *owner = cm_thread_of_entry(entry);
	struct cm_spool_path_total *total;
	uint32_t region;

	if (!owner)
		return;
	total = cm_callers_of(owner, entry);
	region = entry->region;
	if (!atomic_compare_exchange_strong_explicit((_Atomic uint64_t *)&entry->start, &expected,
						     0, memory_order_acq_rel, memory_order_relaxed))
		return;
	account(thread, region, frame->start, end, flags, &entry->frame);
	cm_callers_account(thread, total, true, ticks_between(frame->start, end));
	entry->frame = CM_HOLE;
}

static void close_call(struct cm_frame *frame, uint64_t end, unsigned int flags)
{
	struct cm_thread *thread = cm_self;
	struct cm_spool_open *entry = frame->entry;
	uint64_t mask;

	if (entry == CM_NOT_RECORDED)
		return;
	if (is_closed() ||
	    atomic_load_explicit(&cm_process.state, memory_order_relaxed) == CM_PROCESS_NEW)
		return; /* it stays open; a forked child returns from a call that its parent made */
	if (!thread->first)
		thread = attach();
	if (!thread)
		return;
	mask = begin(thread);
	if (is_closed())
		; /* just now */
	else if (entry < thread->table || entry >= thread->table + thread->first->n_entries)
		close_foreign(thread, frame, end, flags);
	else if (entry < thread->next && entry->start == frame->start)
		close_below(thread, entry, end, flags);
	end_cold(thread, mask);
}

void cm_record_exit_cold(struct cm_frame *frame, uint64_t end)
{
	close_call(frame, end, 0);
}

void cm_record_unwound(struct cm_frame *frame)
{
	close_call(frame, cm_clock_now(), CM_CALL_UNWOUND);
	cm_markers_unwound(frame);
}
