/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tags that LIKWID is given, and the order in which its CPUs know them.
 *
 * LIKWID numbers regions a CPU in the order in which it meets them there, and its marker file takes
 * those numbers for the same on all. So a tag is registered on all CPUs at once, for one group at a
 * time, under one lock; never by a start.
 */
#include <errno.h>
#include <string.h>

#include "preload/clock.h"
#include "preload/likwid.h"
#include "preload/markers.h"
#include "preload/process.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define CM_SWITCH_NS 100000000 /* between two switches for the same region's sake */
#define CM_LOCK_MS 1000

struct cm_marker *cm_marker_table;

bool cm_markers_lock_all(void)
{
	for (uint32_t i = 0; i < cm_markers.n_cpus; i++)
		if (!cm_lock_timed(&cm_markers.locks[cm_markers.cpus[i]], CM_LOCK_MS)) {
			while (i-- > 0)
				cm_unlock(&cm_markers.locks[cm_markers.cpus[i]]);
			return false;
		}
	return true;
}

void cm_markers_unlock_all(void)
{
	for (uint32_t i = cm_markers.n_cpus; i-- > 0;)
		cm_unlock(&cm_markers.locks[cm_markers.cpus[i]]);
}

/*
 * Register for the active group, everywhere. A CPU on which the region never starts has a result
 * all the same, in which LIKWID leaves group and CPU uninitialised: two ints, one after the other.
 */
static void register_everywhere(struct cm_marker *marker)
{
	uint32_t group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);
	uint64_t absent = (uint64_t)UINT32_MAX << 32 | group;

	for (uint32_t i = 0; i < cm_markers.n_cpus; i++) {
		/* It cannot fail for a listed CPU but by losing the daemon: seen afterwards. */
		(void)cm_likwid_call_tag(cm_likwid.register_region, marker->tag, cm_markers.cpus[i],
					 absent);
	}
	atomic_fetch_or_explicit(&marker->groups, UINT64_C(1) << group, memory_order_release);
}

static bool is_registered(const struct cm_marker *marker)
{
	uint32_t group = atomic_load_explicit(&cm_markers.group, memory_order_acquire);

	return atomic_load_explicit(&marker->groups, memory_order_acquire) >> group & 1;
}

/* Tags lock held. */
static int make_registered(int idx)
{
	struct cm_marker *marker = &cm_marker_table[idx];

	if (!cm_markers_lock_all())
		return -EAGAIN;
	if (!is_registered(marker))
		register_everywhere(marker);
	cm_markers_unlock_all();
	if (!atomic_load_explicit(&cm_likwid_is_lost, memory_order_acquire))
		return idx;
	marker->is_doubtful = true;
	return -EPIPE;
}

static bool is_known(const char *tag, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(cm_marker_table[i].tag, tag))
			return true;
	return false;
}

/* The longest part of a tag that LIKWID can read back, not cut inside of a character. */
static size_t cut(const char *tag, size_t n_room)
{
	size_t n = strlen(tag);

	if (n <= n_room)
		return n;
	for (n = n_room; n && ((unsigned char)tag[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

/* A line of the marker file each: no newline, not too long, and no two alike. */
static void make_tag(struct cm_marker *marker, const char *tag, uint32_t idx)
{
	size_t n = cut(tag, sizeof(marker->tag) - 1);
	struct cm_diag suffix = {0};

	memcpy(marker->tag, tag, n);
	marker->tag[n] = '\0';
	for (char *c = marker->tag; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '_';
	if (n && !tag[n] && !is_known(marker->tag, idx))
		return;
	(void)cm_diag_set(&suffix, 0, "#%u", idx);
	n = cut(tag, sizeof(marker->tag) - 1 - strlen(suffix.text));
	memcpy(marker->tag + n, suffix.text, strlen(suffix.text) + 1);
}

/* Tags lock held. */
static int add(const char *tag, uint32_t region)
{
	uint32_t n = atomic_load_explicit(&cm_markers.n_markers, memory_order_relaxed);
	struct cm_spool_marker_item item = {
		.item.type = CM_ITEM_MARKER, .region = region, .marker = n};
	struct cm_marker *marker = &cm_marker_table[n];
	const char *string = marker->tag;

	if (n == CM_MAX_MARKERS)
		return -ENOSPC;
	*marker = (struct cm_marker){.region = region};
	if (region == UINT32_MAX) {
		size_t n_tag = cut(tag, sizeof(marker->tag) - 1);

		memcpy(marker->tag, tag, n_tag); /* as it is, or LIKWID breaks by itself */
	} else {
		make_tag(marker, tag, n);
	}
	cm_process_lock();
	cm_process_append_new();  /* the region, first */
	if (cm_process.has_spool) /* if it fails, the file has the tag as LIKWID has it */
		(void)cm_process_append(&item.item, sizeof(item), &string, 1);
	cm_process_unlock();
	atomic_store_explicit(&cm_markers.n_markers, n + 1, memory_order_release);
	return (int)n;
}

int cm_marker_get(uint32_t region)
{
	_Atomic uint32_t *known = &cm_regions[region].marker;
	int idx = (int)atomic_load_explicit(known, memory_order_acquire) - 1;

	if (idx >= 0 && is_registered(&cm_marker_table[idx]))
		return idx;
	cm_lock(&cm_markers.tags_lock);
	idx = (int)atomic_load_explicit(known, memory_order_relaxed) - 1;
	if (idx < 0) {
		idx = add(cm_regions[region].tag, region);
		if (idx >= 0)
			atomic_store_explicit(known, (uint32_t)idx + 1, memory_order_release);
	}
	if (idx >= 0)
		idx = make_registered(idx);
	cm_unlock(&cm_markers.tags_lock);
	return idx;
}

int cm_marker_get_own(const char *tag)
{
	uint32_t n;
	int idx = -1;

	atomic_store_explicit(&cm_markers.has_own, true, memory_order_relaxed);
	cm_lock(&cm_markers.tags_lock);
	n = atomic_load_explicit(&cm_markers.n_markers, memory_order_relaxed);
	for (uint32_t i = 0; i < n && idx < 0; i++)
		if (cm_marker_table[i].region == UINT32_MAX && !strcmp(cm_marker_table[i].tag, tag))
			idx = (int)i;
	if (idx < 0)
		idx = add(tag, UINT32_MAX);
	if (idx >= 0)
		idx = make_registered(idx);
	cm_unlock(&cm_markers.tags_lock);
	return idx;
}

static void call_next_group(void *arg)
{
	(void)arg;
	cm_likwid.next_group();
}

void cm_marker_next_group(void)
{
	uint32_t group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed);

	if (cm_likwid_call_any(call_next_group, NULL, -1) < 0)
		return; /* lost: nobody calls it again */
	atomic_store_explicit(&cm_markers.group, (group + 1) % cm_markers.n_groups,
			      memory_order_release);
	cm_markers.last_switch = cm_clock_now();
}

/* The group in which the region has fewest calls; `group` where it has as few there. */
static uint32_t find_wanted(const struct cm_marker *marker, uint32_t group, bool *ret_is_first)
{
	uint32_t wanted = group, fewest;

	fewest = atomic_load_explicit(&marker->n_started[group], memory_order_relaxed);
	for (uint32_t i = 0; i < cm_markers.n_groups && i < CM_MAX_GROUPS; i++) {
		uint32_t n = atomic_load_explicit(&marker->n_started[i], memory_order_relaxed);

		if (n < fewest) {
			fewest = n;
			wanted = i;
		}
	}
	*ret_is_first = !fewest;
	return wanted;
}

/*
 * Each region's first calls go through all groups; after that a switch, which costs LIKWID a
 * millisecond, is worth it ten times a second. A program with markers of its own has its own idea
 * of groups: it is left to it.
 */
void cm_marker_choose_group(uint32_t region)
{
	uint32_t idx = atomic_load_explicit(&cm_regions[region].marker, memory_order_acquire);
	uint32_t group = atomic_load_explicit(&cm_markers.group, memory_order_relaxed), wanted;
	bool is_first;

	if (!idx || atomic_load_explicit(&cm_markers.n_open, memory_order_relaxed) ||
	    atomic_load_explicit(&cm_markers.has_own, memory_order_relaxed))
		return;
	wanted = find_wanted(&cm_marker_table[idx - 1], group, &is_first);
	if (wanted == group ||
	    (!is_first && cm_clock_now() - cm_markers.last_switch < cm_clock_ticks(CM_SWITCH_NS)))
		return;
	cm_lock(&cm_markers.tags_lock);
	if (cm_markers_lock_all()) {
		/* Not under a region that is open: it would never be stopped. */
		for (uint32_t i = 0;
		     i < cm_markers.n_groups &&
		     !atomic_load_explicit(&cm_markers.n_open, memory_order_acquire) &&
		     atomic_load_explicit(&cm_markers.group, memory_order_relaxed) != wanted;
		     i++)
			cm_marker_next_group();
		cm_markers_unlock_all();
	}
	cm_unlock(&cm_markers.tags_lock);
}
