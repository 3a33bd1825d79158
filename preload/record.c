/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path. See thread.h for what a signal handler may do between any two lines here. */
#include "preload/record.h"

#include "preload/callers.h"
#include "preload/clock.h"
#include "preload/stub.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define CM_BARRIER() atomic_signal_fence(memory_order_seq_cst)

__thread struct cm_thread *cm_self = &cm_thread_fresh;

/* callers: frame->start holds the totals of the call's path, or NULL (capture()). */
static inline __attribute__((always_inline)) void *
enter(const struct cm_stub *stub, struct cm_frame *frame, bool tsc, bool callers)
{
	struct cm_thread *thread = cm_self;
	struct cm_spool_open *entry = thread->next;

	/* An enclosing call lies further up the stack; else longjmp, or another stack. */
	if (unlikely(entry >= thread->limit || entry[-1].frame <= (uint64_t)frame))
		return cm_record_enter_cold(stub, frame);
	thread->next = entry + 1;
	CM_BARRIER();
	entry->frame = (uint64_t)frame;
	*(uint64_t *)&entry->region = stub->region | thread->thread_bits;
	frame->entry = entry;
	if (callers && thread->callers)
		thread->callers->open[entry - thread->table] =
			(struct cm_spool_path_total *)frame->start;
	CM_BARRIER();
	frame->start = cm_clock_read(tsc);
	entry->start = frame->start;
	return stub->original;
}

static inline __attribute__((always_inline)) void
add_to_path(const struct cm_thread *thread, const struct cm_spool_open *entry, uint64_t duration)
{
	struct cm_spool_path_total *total = cm_callers_of(thread, entry);

	CM_BARRIER(); /* spool.h: the call is recorded first */
	if (total)
		cm_path_total_add(total, duration);
}

/* The call is accounted: its entry is free again. */
static inline __attribute__((always_inline)) void release(struct cm_thread *thread,
							  struct cm_spool_open *entry)
{
	CM_BARRIER();
	entry->start = 0;
	CM_BARRIER();
	thread->next = entry;
}

#define CM_ADD(target, value) \
	__asm__ volatile("addq %1, %0" : "+m"(target) : "er"(value) : "memory", "cc")

/* Lower or raise one extreme; a handler in between makes the exchange fail, and we look again. */
static inline void keep_extreme(uint64_t *extreme, uint64_t value, bool lowest)
{
	uint64_t seen = *(volatile uint64_t *)extreme;

	while (lowest ? value < seen : value > seen)
		__asm__ volatile("cmpxchgq %2, %1"
				 : "+a"(seen), "+m"(*extreme)
				 : "r"(value)
				 : "memory", "cc");
}

/* The sums of one block. Single instructions: a handler may add to them in between. */
static inline __attribute__((always_inline)) void add_to_sums(struct cm_spool_totals *totals,
							      uint64_t duration, bool tsc)
{
	uint64_t ns =
		tsc ? (uint64_t)(((unsigned __int128)duration * cm_clock_scale) >> 32) : duration;
	unsigned __int128 square = (unsigned __int128)duration * duration;

	CM_ADD(totals->buckets[63 - __builtin_clzll(ns | 1)], (uint64_t)1);
	CM_ADD(totals->total, duration);
	/* The carry survives a handler: the kernel restores the flags. */
	__asm__ volatile("addq %2, %0\n\tadcq %3, %1"
			 : "+m"(totals->sum_sq_lo), "+m"(totals->sum_sq_hi)
			 : "r"((uint64_t)square), "r"((uint64_t)(square >> 64))
			 : "memory", "cc");
	keep_extreme(&totals->min, duration, true);
	keep_extreme(&totals->max, duration, false);
}

/*
 * Count one more call and make this the pending one (not valid: there is none). Returns what was
 * pending before. A count that overflows only touches the bit that is set or cleared anyway.
 */
static inline __attribute__((always_inline)) uint64_t
exchange_pending(struct cm_spool_totals *totals, uint64_t ticks, bool valid, uint64_t *mark)
{
	uint64_t old = *(volatile uint64_t *)&totals->pending, next;
	bool done;

	do {
		*mark = old | CM_OPEN_COUNTED_BIT;
		CM_BARRIER();
		next = (((old >> CM_PENDING_COUNT_SHIFT) + 1) << CM_PENDING_COUNT_SHIFT) | ticks;
		next = valid ? next | CM_PENDING_VALID : next & ~CM_PENDING_VALID;
		__asm__ volatile("cmpxchgq %3, %2"
				 : "=@ccz"(done), "+a"(old), "+m"(totals->pending)
				 : "r"(next)
				 : "memory");
	} while (unlikely(!done));
	return old;
}

static inline __attribute__((always_inline)) void
add_pending(struct cm_spool_totals *totals, uint64_t duration, bool tsc, uint64_t *mark)
{
	uint64_t old = exchange_pending(totals, duration, true, mark);

	if (likely(old & CM_PENDING_VALID))
		add_to_sums(totals, old & CM_PENDING_TICKS_MASK, tsc);
}

void cm_record_total(struct cm_spool_totals *totals, uint64_t duration, uint64_t *mark)
{
	uint64_t old;

	if (!(duration >> CM_PENDING_COUNT_SHIFT)) {
		add_pending(totals, duration, true, mark);
		return;
	}
	old = exchange_pending(totals, 0, false, mark);
	if (old & CM_PENDING_VALID)
		add_to_sums(totals, old & CM_PENDING_TICKS_MASK, true);
	add_to_sums(totals, duration, true);
}

static inline __attribute__((always_inline)) void leave(struct cm_frame *frame, bool tsc,
							bool callers)
{
	uint64_t end = cm_clock_read(tsc);
	struct cm_spool_open *entry = frame->entry;
	struct cm_thread *thread = cm_self;
	struct cm_cell *cell;
	uint64_t duration = end - frame->start, offset, *slot;

	/*
	 * Not the innermost, another thread's fiber, a forked child, not recorded; or closed
	 * already. An entry is this thread's innermost one only if it is in this thread's table.
	 */
	if (unlikely(entry + 1 != thread->next || entry->start != frame->start)) {
		cm_record_exit_cold(frame, end);
		return;
	}
	cell = &thread->cells[entry->region];
	if (cell->quota <= 0) {
		/* Region capped or trace off: totals, once the cold path has made them. */
		if (unlikely(!cell->totals || duration >> CM_PENDING_COUNT_SHIFT)) {
			cm_record_call_cold(thread, entry, end);
			return;
		}
		add_pending(cell->totals, duration, tsc, &entry->frame);
		if (callers)
			add_to_path(thread, entry, duration);
		release(thread, entry);
		return;
	}
	/* Reserve, then read the base: thread.h says why in this order. */
	slot = (uint64_t *)sizeof(uint64_t);
	__asm__ volatile("xaddq %0, %1" : "+r"(slot), "+m"(thread->ring_next) : : "memory", "cc");
	if (unlikely(slot >= thread->ring_end)) {
		cm_record_call_cold(thread, entry, end);
		return;
	}
	offset = end - thread->base;
	if (unlikely(duration >> CM_WORD_SHORT_DURATION_BITS |
		     offset >> CM_WORD_SHORT_OFFSET_BITS)) {
		*slot = (uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT;
		cm_record_call_cold(thread, entry, end);
		return;
	}
	__asm__ volatile("subq $1, %0" : "+m"(cell->quota) : : "memory", "cc");
	/* Nothing in between: cm_drain_has_recorded() looks for those that a leap left there. */
	*slot = CM_WORD_SHORT_BIT | (uint64_t)entry->region << CM_WORD_SHORT_REGION_SHIFT |
		duration << CM_WORD_SHORT_DURATION_SHIFT | offset;
	if (callers)
		add_to_path(thread, entry, duration);
	release(thread, entry);
}

static void *enter_tsc(const struct cm_stub *stub, struct cm_frame *frame)
{
	return enter(stub, frame, true, false);
}

static void *enter_monotonic(const struct cm_stub *stub, struct cm_frame *frame)
{
	return enter(stub, frame, false, false);
}

static void leave_tsc(struct cm_frame *frame)
{
	leave(frame, true, false);
}

static void leave_monotonic(struct cm_frame *frame)
{
	leave(frame, false, false);
}

static void *enter_tsc_callers(const struct cm_stub *stub, struct cm_frame *frame)
{
	return enter(stub, frame, true, true);
}

static void *enter_monotonic_callers(const struct cm_stub *stub, struct cm_frame *frame)
{
	return enter(stub, frame, false, true);
}

static void leave_tsc_callers(struct cm_frame *frame)
{
	leave(frame, true, true);
}

static void leave_monotonic_callers(struct cm_frame *frame)
{
	leave(frame, false, true);
}

static void *enter_nothing(const struct cm_stub *stub, struct cm_frame *frame)
{
	frame->entry = CM_NOT_RECORDED;
	return stub->original;
}

static void leave_nothing(struct cm_frame *frame)
{
	(void)frame;
}

bool cm_hooks_use_vectors;
void *(*cm_hook_enter)(const struct cm_stub *, struct cm_frame *) = enter_nothing;
void (*cm_hook_exit)(struct cm_frame *) = leave_nothing;

/* Around all others: what it takes is in no call's time, and between no marker's start and stop. */
static void *(*inner_enter)(const struct cm_stub *, struct cm_frame *);

static void *capture(const struct cm_stub *stub, struct cm_frame *frame)
{
	frame->start = (uint64_t)cm_callers_capture(stub, frame);
	return inner_enter(stub, frame);
}

void *(**cm_record_inner_enter(void))(const struct cm_stub *stub, struct cm_frame *frame)
{
	return inner_enter ? &inner_enter : &cm_hook_enter;
}

void cm_record_init(bool has_callers)
{
	bool tsc = cm_clock_kind == CM_CLOCK_TSC;

	if (has_callers) {
		cm_hook_exit = tsc ? leave_tsc_callers : leave_monotonic_callers;
		inner_enter = tsc ? enter_tsc_callers : enter_monotonic_callers;
		cm_hook_enter = capture;
		return;
	}
	cm_hook_exit = tsc ? leave_tsc : leave_monotonic;
	cm_hook_enter = tsc ? enter_tsc : enter_monotonic;
}

void cm_record_stop(void)
{
	cm_hook_enter = enter_nothing;
	cm_hook_exit = leave_nothing;
}
