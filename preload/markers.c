/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a marker around one call. See markers.h for the rules. */
#include "preload/markers.h"

#include <errno.h>

#include "preload/clock.h"
#include "preload/likwid.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/stub.h"
#include "preload/syscall.h"
#include "preload/vdso.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

struct cm_markers cm_markers;
uint32_t cm_marker_vector_bytes = 16;

static void *(*plain_enter)(const struct cm_stub *, struct cm_frame *);
static void (*plain_exit)(struct cm_frame *);

/* marker-hook-x86_64.S, which calls the functions below. */
void *cm_marker_hook_enter(const struct cm_stub *stub, struct cm_frame *frame);
void cm_marker_hook_exit(struct cm_frame *frame);

bool cm_markers_wants(const struct cm_stub *stub, const struct cm_frame *frame);
void cm_markers_start(const struct cm_stub *stub, const struct cm_frame *frame);
void *cm_markers_enter(const struct cm_stub *stub, struct cm_frame *frame);
bool cm_markers_leave(struct cm_frame *frame);
void cm_markers_stop(const struct cm_frame *frame);

/*
 * Has the call that opened it been left behind: closed by the recorder (which saw that), or in the
 * place of the stack where the newer frame is now?
 */
static bool is_stale(const struct cm_thread *thread, const struct cm_mark *mark, uint64_t frame)
{
	if (mark->entry && mark->entry != CM_NOT_RECORDED && mark->entry->start != mark->start)
		return true;
	return mark->frame <= frame && cm_thread_on_stack(thread, mark->frame) &&
	       cm_thread_on_stack(thread, frame);
}

static bool is_open(const struct cm_thread *thread, uint32_t region, uint64_t frame)
{
	for (uint32_t i = thread->n_marks; i-- > 0;)
		if (thread->marks[i].region == region &&
		    !is_stale(thread, &thread->marks[i], frame))
			return true;
	return false;
}

/* Before a call: should a marker be opened? No vector register is touched. */
bool cm_markers_wants(const struct cm_stub *stub, const struct cm_frame *frame)
{
	uint32_t state = atomic_load_explicit(&cm_markers.state, memory_order_acquire);
	struct cm_region *region = &cm_regions[stub->region];

	if (state == CM_MARKERS_NONE || !region->sample)
		return false;
	if (state != CM_MARKERS_ARMED) {
		cm_markers_skip(state == CM_MARKERS_LOST ? CM_MARKER_SKIP_DAEMON
							 : CM_MARKER_SKIP_LATE);
		return false;
	}
	if (cm_likwid_is_inside()) {
		cm_markers_skip(CM_MARKER_SKIP_NESTED);
		return false;
	}
	if (is_open(cm_self, stub->region, (uint64_t)frame))
		return false;
	return region->sample == 1 ||
	       !(atomic_fetch_add_explicit(&region->n_sampled, 1, memory_order_relaxed) %
		 region->sample);
}

static long slow_get_cpu(unsigned int *cpu, unsigned int *node, void *unused)
{
	return cm_sys3(SYS_getcpu, (long)cpu, (long)node, (long)unused);
}

static long (*get_cpu)(unsigned int *, unsigned int *, void *) = slow_get_cpu;

static int current_cpu(void)
{
	unsigned int cpu = 0;

	return get_cpu(&cpu, NULL, NULL) < 0 || cpu >= CM_MARKER_CPUS ? -1 : (int)cpu;
}

/* One call of LIKWID for this CPU, whose lock is held. Negative: it failed. */
static int call(int (*function)(const char *), struct cm_marker *marker, uint32_t cpu)
{
	uint32_t armed = CM_MARKERS_ARMED;
	int rc;

	rc = cm_likwid_call_tag(function, marker->tag, (int)cpu, 0);
	if (!unlikely(atomic_load_explicit(&cm_likwid_is_lost, memory_order_acquire)))
		return rc;
	atomic_compare_exchange_strong_explicit(&cm_markers.state, &armed, CM_MARKERS_LOST,
						memory_order_acq_rel, memory_order_relaxed);
	marker->is_doubtful = true;
	return -1;
}

static int stop(const struct cm_mark *mark, uint32_t cpu)
{
	int rc = -1;

	cm_lock(&cm_markers.locks[cpu]);
	/* The program may have switched the group: then that region is not the one started. */
	if (mark->group == atomic_load_explicit(&cm_markers.group, memory_order_relaxed))
		rc = call(cm_likwid.stop, &cm_marker_table[mark->marker], cpu);
	cm_unlock(&cm_markers.locks[cpu]);
	return rc;
}

static void give_up_cpu(struct cm_thread *thread)
{
	if (!thread->n_marks)
		atomic_store_explicit(&cm_markers.holders[thread->mark_cpu], NULL,
				      memory_order_release);
}

/* Close the innermost mark. */
static void pop(struct cm_thread *thread, int cpu)
{
	const struct cm_mark *mark = &thread->marks[--thread->n_marks];
	struct cm_marker *marker = &cm_marker_table[mark->marker];
	uint32_t state = atomic_load_explicit(&cm_markers.state, memory_order_acquire);

	if (state == CM_MARKERS_LOST) {
		marker->is_doubtful = true;
		cm_markers_skip(CM_MARKER_SKIP_DAEMON);
	} else if (state == CM_MARKERS_ARMED && cpu != (int)thread->mark_cpu) {
		cm_markers_skip(CM_MARKER_SKIP_MIGRATED);
	} else if (state == CM_MARKERS_ARMED && stop(mark, thread->mark_cpu) < 0) {
		cm_markers_skip(marker->is_doubtful ? CM_MARKER_SKIP_DAEMON
						    : CM_MARKER_SKIP_FAILED);
	}
	atomic_fetch_sub_explicit(&cm_markers.n_open, 1, memory_order_release);
	give_up_cpu(thread);
}

static bool is_dead(const struct cm_thread *thread)
{
	return cm_sys3(SYS_tgkill, cm_process.pid, thread->tid, 0) < 0;
}

/* Become the holder of the CPU, or stay it. */
static bool hold(struct cm_thread *thread, int cpu)
{
	struct cm_thread *holder = NULL;

	if (cpu < 0 || !cm_markers.is_listed[cpu]) {
		cm_markers_skip(CM_MARKER_SKIP_UNLISTED);
		return false;
	}
	if (thread->n_marks && thread->mark_cpu != (uint32_t)cpu) {
		cm_markers_skip(CM_MARKER_SKIP_MIGRATED);
		return false;
	}
	thread->mark_cpu = (uint32_t)cpu;
	if (atomic_compare_exchange_strong_explicit(&cm_markers.holders[cpu], &holder, thread,
						    memory_order_acq_rel, memory_order_acquire) ||
	    holder == thread)
		return true;
	/* One that ended with a marker open never comes back to close it. */
	if (is_dead(holder) &&
	    atomic_compare_exchange_strong_explicit(&cm_markers.holders[cpu], &holder, thread,
						    memory_order_acq_rel, memory_order_relaxed))
		return true;
	cm_markers_skip(CM_MARKER_SKIP_BUSY);
	return false;
}

/* The CPU's lock, while the group is one that the tag is registered for; its index, or negative. */
static int lock_registered(uint32_t region, uint32_t cpu)
{
	for (;;) {
		int marker = cm_marker_get(region);
		uint32_t group;

		if (marker < 0)
			return marker;
		cm_lock(&cm_markers.locks[cpu]);
		group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);
		if (atomic_load_explicit(&cm_marker_table[marker].groups, memory_order_acquire) >>
			    group &
		    1)
			return marker;
		cm_unlock(&cm_markers.locks[cpu]); /* another thread has just switched */
	}
}

static void start_on(struct cm_thread *thread, const struct cm_stub *stub, uint64_t frame)
{
	uint32_t cpu = thread->mark_cpu, group;
	struct cm_mark *mark = &thread->marks[thread->n_marks];
	int rc, marker;

	if (!thread->n_marks && cm_markers.n_groups > 1)
		cm_marker_choose_group(stub->region);
	marker = lock_registered(stub->region, cpu);
	if (marker < 0) {
		cm_markers_skip(marker == -EPIPE ? CM_MARKER_SKIP_DAEMON : CM_MARKER_SKIP_TAGS);
		return;
	}
	group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);
	rc = call(cm_likwid.start, &cm_marker_table[marker], cpu);
	if (rc >= 0) {
		*mark = (struct cm_mark){.frame = frame,
					 .region = stub->region,
					 .marker = (uint32_t)marker,
					 .group = group};
		atomic_signal_fence(memory_order_seq_cst);
		thread->n_marks++;
		atomic_fetch_add_explicit(&cm_markers.n_open, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&cm_marker_table[marker].n_started[group], 1,
					  memory_order_relaxed);
	}
	cm_unlock(&cm_markers.locks[cpu]);
	if (rc < 0)
		cm_markers_skip(cm_marker_table[marker].is_doubtful ? CM_MARKER_SKIP_DAEMON
								    : CM_MARKER_SKIP_FAILED);
}

/* What markers take is nobody's time: it is summed a thread, and taken at both ends of a call. */
void cm_markers_start(const struct cm_stub *stub, const struct cm_frame *frame)
{
	uint64_t begin = cm_clock_now(), mask = cm_sys_block_signals();
	struct cm_thread *thread = cm_record_thread();
	int cpu = current_cpu();

	if (!thread) {
		cm_markers_skip(CM_MARKER_SKIP_UNKNOWN);
		goto out;
	}
	while (thread->n_marks &&
	       is_stale(thread, &thread->marks[thread->n_marks - 1], (uint64_t)frame))
		pop(thread, cpu);
	if (thread->n_marks == CM_MAX_MARKS)
		cm_markers_skip(CM_MARKER_SKIP_NESTED);
	else if (hold(thread, cpu)) {
		start_on(thread, stub, (uint64_t)frame);
		give_up_cpu(thread);
	}
	thread->tool_ticks += cm_clock_now() - begin;
out:
	cm_sys_restore_signals(mask);
}

void *cm_markers_enter(const struct cm_stub *stub, struct cm_frame *frame)
{
	struct cm_thread *thread = cm_self;
	uint32_t top;
	void *original;

	/* The entry that it most likely gets; the cold path sets it where it is another. */
	if (thread->next < thread->limit)
		thread->next->scratch = thread->tool_ticks;
	original = plain_enter(stub, frame);
	thread = cm_self;
	top = thread->n_marks;
	if (top && !thread->marks[top - 1].entry &&
	    thread->marks[top - 1].frame == (uint64_t)frame) {
		thread->marks[top - 1].start = frame->start;
		thread->marks[top - 1].entry = frame->entry;
	}
	return original;
}

/* Is one of the thread's marks this call's? Its index + 1. */
static uint32_t find(const struct cm_thread *thread, const struct cm_frame *frame)
{
	uint32_t i = thread->n_marks;

	while (i && (thread->marks[i - 1].frame != (uint64_t)frame ||
		     thread->marks[i - 1].start != frame->start))
		i--;
	return i;
}

static void add_tool_ticks(struct cm_thread *thread, uint32_t region, uint64_t ticks)
{
	uint64_t mask = cm_sys_block_signals();
	struct cm_spool_totals *totals = cm_totals_get(thread, region);

	if (totals)
		totals->tool_ticks += ticks;
	cm_sys_restore_signals(mask);
}

/* After a call: account it; true: it has a marker to close. No vector register is touched. */
bool cm_markers_leave(struct cm_frame *frame)
{
	struct cm_thread *thread = cm_self;
	const struct cm_spool_open *entry = frame->entry;
	uint64_t ticks = 0;
	uint32_t region = 0;

	if (entry + 1 == thread->next && entry->start == frame->start) {
		ticks = thread->tool_ticks - entry->scratch;
		region = entry->region;
	}
	plain_exit(frame);
	if (unlikely(ticks))
		add_tool_ticks(thread, region, ticks);
	return find(thread, frame);
}

void cm_markers_stop(const struct cm_frame *frame)
{
	uint64_t begin = cm_clock_now(), mask = cm_sys_block_signals();
	struct cm_thread *thread = cm_self;
	uint32_t wanted = find(thread, frame);
	int cpu = current_cpu();

	/* Those above it belong to calls that were left behind. */
	while (wanted && thread->n_marks >= wanted)
		pop(thread, cpu);
	thread->tool_ticks += cm_clock_now() - begin;
	cm_sys_restore_signals(mask);
}

void cm_markers_unwound(struct cm_frame *frame)
{
	if (atomic_load_explicit(&cm_markers.state, memory_order_relaxed) != CM_MARKERS_NONE &&
	    find(cm_self, frame))
		cm_markers_stop(frame);
}

void cm_markers_release(struct cm_thread *thread)
{
	if (thread->n_marks && atomic_load_explicit(&cm_markers.state, memory_order_relaxed)) {
		atomic_fetch_sub_explicit(&cm_markers.n_open, thread->n_marks,
					  memory_order_release);
		thread->n_marks = 0;
		if (atomic_load_explicit(&cm_markers.holders[thread->mark_cpu],
					 memory_order_relaxed) == thread)
			give_up_cpu(thread);
	}
	thread->n_marks = 0;
}

static uint32_t find_vector_bytes(void)
{
	return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
}

void cm_markers_arm(void)
{
	void *found = cm_vdso_find("__vdso_getcpu");

	cm_marker_vector_bytes = find_vector_bytes();
	cm_hooks_use_vectors = true; /* before any hook does */
	if (found)
		*(void **)&get_cpu = found;
	plain_enter = *cm_record_inner_enter();
	plain_exit = cm_hook_exit;
	cm_markers.last_switch = cm_clock_now();
	atomic_store_explicit(&cm_markers.state, CM_MARKERS_ARMED, memory_order_release);
	/* Calls that are under way come back through the new exit, which finds no mark of them. */
	cm_hook_exit = cm_marker_hook_exit;
	*cm_record_inner_enter() = cm_marker_hook_enter;
}

void cm_markers_disarm(void)
{
	struct cm_thread *thread = cm_self;
	uint32_t armed = CM_MARKERS_ARMED;
	int cpu = current_cpu();

	/* They go on until the process ends, which is now. */
	while (thread->n_marks)
		pop(thread, cpu);
	atomic_compare_exchange_strong_explicit(&cm_markers.state, &armed, CM_MARKERS_CLOSED,
						memory_order_acq_rel, memory_order_relaxed);
}
