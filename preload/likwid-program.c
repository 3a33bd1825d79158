/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that opens LIKWID markers itself, in a process where we have opened them too: one
 * instance, one initialisation, one end. Its own regions go through the same locks and the same
 * order of tags as ours.
 */
#include <errno.h>
#include <string.h>

#include "preload/likwid.h"
#include "preload/markers.h"
#include "preload/object.h"
#include "preload/process.h"
#include "preload/syscall.h"

static bool is_armed(void)
{
	return atomic_load_explicit(&cm_markers.state, memory_order_acquire) == CM_MARKERS_ARMED;
}

/* In a forked child, or once the daemon is gone: what LIKWID says without one. */
static int refuse(void)
{
	return -EFAULT;
}

/*
 * LIKWID's own call, under this CPU's lock; elsewhere than on a listed CPU it refuses by itself.
 * n_opened: how many more regions are open after it; while there are any, we switch no group.
 */
static int call(int (*function)(const char *), const char *tag, uint32_t n_opened)
{
	uint64_t mask = cm_sys_block_signals();
	unsigned int cpu = 0;
	bool is_listed;
	int rc;

	(void)cm_sys3(SYS_getcpu, (long)&cpu, 0, 0); /* cannot fail */
	is_listed = cpu < CM_MARKER_CPUS && cm_markers.is_listed[cpu];
	if (is_listed && tag && strlen(tag) < CM_LIKWID_TAG_BYTES)
		(void)cm_marker_get_own(tag); /* if there are too many, LIKWID's own order holds */
	if (is_listed)
		cm_lock(&cm_markers.locks[cpu]);
	rc = function(tag);
	if (is_listed && rc >= 0)
		atomic_fetch_add_explicit(&cm_markers.n_open, n_opened, memory_order_release);
	if (is_listed)
		cm_unlock(&cm_markers.locks[cpu]);
	cm_sys_restore_signals(mask);
	return rc;
}

static int program_start(const char *tag)
{
	return is_armed() ? call(cm_likwid.start, tag, 1) : refuse();
}

static int program_stop(const char *tag)
{
	return is_armed() ? call(cm_likwid.stop, tag, UINT32_MAX) : refuse();
}

/* call() has registered it, on all CPUs. */
static int program_register(const char *tag)
{
	return is_armed() ? call(cm_likwid.register_region, tag, 0) : refuse();
}

static void program_next_group(void)
{
	uint64_t mask;

	if (!is_armed())
		return;
	mask = cm_sys_block_signals();
	cm_lock(&cm_markers.tags_lock);
	if (cm_markers_lock_all()) {
		cm_marker_next_group();
		cm_markers_unlock_all();
	}
	cm_unlock(&cm_markers.tags_lock);
	cm_sys_restore_signals(mask);
}

/* We have initialised it, and close it when the process ends: later calls of ours count too. */
static void program_init_or_close(void)
{
}

const void *cm_likwid_program_call(const char *symbol)
{
	static const struct {
		const char *symbol;
		const void *function;
	} calls[] = {
		{"Init", (void *)program_init_or_close},
		{"Close", (void *)program_init_or_close},
		{"StartRegion", (void *)program_start},
		{"StopRegion", (void *)program_stop},
		{"RegisterRegion", (void *)program_register},
		{"NextGroup", (void *)program_next_group},
	};

	if (strncmp(symbol, "likwid_marker", 13))
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(symbol + 13, calls[i].symbol))
			return calls[i].function;
	return NULL;
}

static const void *choose(const char *symbol, uint64_t value)
{
	(void)value;
	return cm_likwid_program_call(symbol);
}

void cm_likwid_patch_program(void)
{
	cm_lock(&cm_process.sites_lock);
	for (uint32_t i = 0; i < cm_object_count(); i++) {
		struct cm_object *object = cm_object_at(i);

		if (object->is_gone || object->is_skipped || object->has_likwid_calls)
			continue;
		object->has_likwid_calls = true;
		(void)cm_likwid_patch(object, choose);
	}
	cm_unlock(&cm_process.sites_lock);
}
