/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of the markers: what LIKWID has summed is noted in the spool (should its file not come to
 * be, or not be read), then LIKWID writes its file and lets go of the counters. This has to happen
 * before LIKWID's own destructors.
 */
#include <stdatomic.h>
#include <string.h>

#include "preload/counters.h"
#include "preload/likwid.h"
#include "preload/markers.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/syscall.h"

#define CM_MAX_SNAPSHOT_EVENTS 512
#define CM_LOCK_MS 1000

static struct {
	struct cm_spool_snapshot_item head;
	double events[CM_MAX_SNAPSHOT_EVENTS];
} snapshot;

static int n_events, count;

static void call_get(void *tag)
{
	cm_likwid.get(tag, &n_events, snapshot.events, &snapshot.head.seconds, &count);
}

static void note_snapshot(uint32_t marker, uint32_t cpu)
{
	memset(&snapshot, 0, sizeof(snapshot));
	n_events = CM_MAX_SNAPSHOT_EVENTS;
	count = 0;
	if (cm_likwid_call_any(call_get, cm_marker_table[marker].tag, (int)cpu) < 0)
		return;
	if (count <= 0 || n_events < 0 || n_events > CM_MAX_SNAPSHOT_EVENTS)
		return;
	snapshot.head.item.type = CM_ITEM_SNAPSHOT;
	snapshot.head.marker = marker;
	snapshot.head.cpu = cpu;
	snapshot.head.group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);
	snapshot.head.n_events = (uint32_t)n_events;
	snapshot.head.count = (uint64_t)count;
	(void)cm_process_append(&snapshot.head.item,
				sizeof(snapshot.head) + (size_t)n_events * sizeof(double), NULL,
				0); /* only wanted where all else fails */
}

/* All locks held. Tags that were open when the daemon was lost have sums that mean nothing. */
static void note_snapshots(void)
{
	uint32_t n = atomic_load_explicit(&cm_markers.n_markers, memory_order_acquire);
	uint32_t group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);

	for (uint32_t i = 0; i < n; i++) {
		const struct cm_marker *marker = &cm_marker_table[i];

		if (marker->is_doubtful ||
		    !(atomic_load_explicit(&marker->groups, memory_order_relaxed) >> group & 1))
			continue;
		for (uint32_t k = 0; k < cm_markers.n_cpus; k++)
			note_snapshot(i, cm_markers.cpus[k]);
	}
}

static void find_doubtful(void)
{
	for (struct cm_thread *thread = cm_process.threads; thread; thread = thread->other)
		for (uint32_t i = 0; i < thread->n_marks && i < CM_MAX_MARKS; i++)
			cm_marker_table[thread->marks[i].marker].is_doubtful = true;
}

static void note_skips(void)
{
	struct cm_spool_skips_item item = {.item.type = CM_ITEM_SKIPS};
	uint64_t n_all = 0;

	for (int i = 0; i < CM_N_MARKER_SKIPS; i++) {
		item.n[i] = atomic_load_explicit(&cm_markers.skips[i], memory_order_relaxed);
		n_all += item.n[i];
	}
	if (!n_all)
		return;
	(void)cm_process_append(&item.item, sizeof(item), NULL, 0); /* numbers, no more */
#define CM_SAY(name, text, meaning)                          \
	if (item.n[CM_MARKER_SKIP_##name])                   \
		cm_say("no LIKWID marker for %lu calls: %s", \
		       (unsigned long)item.n[CM_MARKER_SKIP_##name], meaning);
	CM_MARKER_SKIPS(CM_SAY)
#undef CM_SAY
}

static void call_close(void *arg)
{
	(void)arg;
	cm_likwid.close();
}

static void close_likwid(uint32_t state)
{
	bool is_lost = state == CM_MARKERS_LOST;

	if (is_lost)
		find_doubtful();
	cm_process_lock();
	if (cm_process.has_spool)
		note_snapshots();
	note_skips();
	cm_process_unlock();
	if (is_lost)
		cm_counters_set(CM_COUNTERS_LOST, "the access daemon or its connection was lost");
	else if (!atomic_load_explicit(&cm_markers.n_markers, memory_order_relaxed))
		cm_counters_set(CM_COUNTERS_EMPTY, NULL);
	else if (cm_likwid_call_any(call_close, NULL, -1) < 0)
		cm_counters_set(CM_COUNTERS_LOST, "LIKWID gave up while it was closed");
	else
		cm_counters_set(CM_COUNTERS_CLOSED, NULL);
}

void cm_counters_close(void)
{
	uint32_t state = atomic_load_explicit(&cm_markers.state, memory_order_acquire);
	uint64_t mask;

	/* None, closed, or a vfork child's. */
	if ((state != CM_MARKERS_ARMED && state != CM_MARKERS_LOST) ||
	    cm_process.pid != cm_sys_getpid())
		return;
	mask = cm_sys_block_signals();
	cm_markers_disarm();
	state = atomic_exchange_explicit(&cm_markers.state, CM_MARKERS_CLOSED,
					 memory_order_acq_rel);
	/* Threads that are inside LIKWID finish; one that hangs there keeps us from it for good. */
	if (cm_lock_timed(&cm_markers.tags_lock, CM_LOCK_MS)) {
		if (cm_markers_lock_all()) {
			close_likwid(state == CM_MARKERS_LOST ? state : CM_MARKERS_ARMED);
			cm_markers_unlock_all();
		}
		cm_unlock(&cm_markers.tags_lock);
	}
	cm_sys_restore_signals(mask);
}
