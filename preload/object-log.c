/* SPDX-License-Identifier: BSD-3-Clause */
/* See object-log.h. */
#include "preload/object-log.h"

#include <stdatomic.h>
#include <string.h>

#include "preload/memory.h"
#include "preload/object.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/stub.h"
#include "preload/syscall.h"

#define CM_MAX_EVENTS 32768u

static const struct cm_object_event *events[CM_MAX_EVENTS];
static _Atomic uint32_t n_events;			  /* those below it are complete */
static const struct cm_object_event *live[CM_MAX_EVENTS]; /* not closed: apart from one another */
static uint32_t n_live;
static uint32_t n_stubs_seen;

uint32_t cm_object_log_count(void)
{
	return atomic_load_explicit(&n_events, memory_order_acquire);
}

const struct cm_object_event *cm_object_log_at(uint32_t idx)
{
	return events[idx];
}

/* The loader's name of it, from the root on: it may be relative to where the program is now. */
static const char *absolute_path(const struct cm_object *object)
{
	const char *path = object->is_main ? cm_settings.executable : object->path;
	char cwd[CM_SPOOL_PATH_BYTES], *joined;
	long n_cwd;
	size_t n = strlen(path) + 1;

	if (*path == '/' || !strchr(path, '/'))
		return object->is_main ? path : object->path;
	n_cwd = cm_sys3(SYS_getcwd, (long)cwd, sizeof(cwd), 0);
	joined = n_cwd > 0 ? cm_memory_get(NULL, (size_t)n_cwd + n) : NULL;
	if (!joined)
		return path;
	memcpy(joined, cwd, (size_t)n_cwd - 1);
	joined[n_cwd - 1] = '/';
	memcpy(joined + n_cwd, path, n);
	return joined;
}

static void format_build_id(const struct cm_object *object, char *text)
{
	static const char digits[] = "0123456789abcdef";
	uint32_t n = object->n_build_id;

	if (n > CM_BUILD_ID_BYTES)
		n = CM_BUILD_ID_BYTES;
	for (uint32_t i = 0; i < n; i++) {
		*text++ = digits[object->build_id[i] >> 4];
		*text++ = digits[object->build_id[i] & 15];
	}
	*text = '\0';
}

/* NULL: no room. */
static const struct cm_object_event *add(const struct cm_object_event *event)
{
	uint32_t n = atomic_load_explicit(&n_events, memory_order_relaxed);
	struct cm_object_event *copy =
		n < CM_MAX_EVENTS ? cm_memory_get(NULL, sizeof(*copy)) : NULL;

	if (!copy) { /* what is where cannot be told any more */
		cm_paths_stop();
		return NULL;
	}
	*copy = *event;
	events[n] = copy;
	atomic_store_explicit(&n_events, n + 1, memory_order_release);
	return copy;
}

static bool is_same(const struct cm_object_event *a, const struct cm_object_event *b)
{
	return a->base == b->base && a->low == b->low && a->high == b->high &&
	       !strcmp(a->build_id, b->build_id) && !strcmp(a->path, b->path);
}

/* Is the object listed as being there? If others are, they are not any more. */
static bool is_known(const struct cm_object_event *event)
{
	bool was_other = false;
	uint32_t i = 0;

	while (i < n_live) {
		struct cm_object_event old = *live[i];

		if (old.high <= event->low || old.low >= event->high) {
			i++;
			continue;
		}
		if (is_same(&old, event))
			return true;
		live[i] = live[--n_live];
		old.is_closed = true;
		(void)add(&old); /* then paths are not kept either */
		was_other = true;
	}
	if (was_other)
		cm_paths_new_epoch();
	return false;
}

static void list(struct cm_object *object)
{
	struct cm_object_event event = {
		.base = object->base, .low = object->low, .high = object->high};
	const struct cm_object_event *added;

	object->is_listed = true;
	event.path = absolute_path(object);
	format_build_id(object, event.build_id);
	if (is_known(&event))
		return;
	added = add(&event);
	if (added && n_live < CM_MAX_EVENTS)
		live[n_live++] = added;
}

bool cm_object_log_update(bool all)
{
	uint32_t n = atomic_load_explicit(&n_events, memory_order_relaxed);
	uint32_t n_stubs = cm_stub_count();

	for (; n_stubs_seen < n_stubs; n_stubs_seen++) {
		struct cm_object *object = cm_object_of(cm_stub_function(n_stubs_seen));

		if (object && !object->is_listed)
			list(object);
	}
	for (uint32_t i = 0; all && i < cm_object_count(); i++)
		if (!cm_object_at(i)->is_gone && !cm_object_at(i)->is_listed)
			list(cm_object_at(i));
	return n != atomic_load_explicit(&n_events, memory_order_relaxed);
}
