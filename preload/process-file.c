/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Appending to the process file: opened by path, written, closed, for each batch.
 *
 * Items are put together in one static buffer (the lock is held, signals are blocked, and stacks
 * may be small). A batch that cannot be written whole is taken back by its length not being
 * counted: the next one overwrites it.
 */
#include <errno.h>
#include <string.h>

#include "preload/clock.h"
#include "preload/object-log.h"
#include "preload/object.h"
#include "preload/paths.h"
#include "preload/process.h"
#include "preload/stub.h"
#include "preload/syscall.h"
#include "preload/thread.h"

#define CM_BATCH_BYTES (64u << 10)
#define CM_PATH_ITEM_BYTES (sizeof(struct cm_spool_path_item) + 8 * CM_RULES_MAX_CALLERS)

static char batch[CM_BATCH_BYTES] __attribute__((aligned(8)));
static size_t n_batch;

void cm_process_file_reset(void)
{
	n_batch = 0;
}

static int flush(void)
{
	static char path[CM_SPOOL_PATH_BYTES];
	size_t n_done = 0;
	long got = 0;
	int fd, rc = cm_process_path(path, sizeof(path), -1, "process");

	if (rc < 0 || !n_batch)
		return rc;
	if (cm_process.n_file_bytes + n_batch > cm_sys_file_limit())
		return -EFBIG;
	fd = cm_sys_open(path, O_WRONLY | O_NOFOLLOW, 0);
	if (fd < 0)
		return fd;
	while (n_done < n_batch) {
		got = cm_sys6(SYS_pwrite64, fd, (long)(batch + n_done), (long)(n_batch - n_done),
			      (long)(cm_process.n_file_bytes + n_done), 0, 0);
		if (got <= 0)
			break;
		n_done += (size_t)got;
	}
	cm_sys_close(fd);
	if (n_done < n_batch)
		return got < 0 ? (int)got : -ENOSPC;
	cm_process.n_file_bytes += n_batch;
	n_batch = 0;
	return 0;
}

/* Put one item into the batch; flushes before it when there is no room. */
static int add(struct cm_spool_item *fixed, size_t n_fixed, const char *const *strings,
	       size_t n_strings)
{
	size_t n = n_fixed, room = CM_BATCH_BYTES - 64;
	int rc;

	for (size_t i = 0; i < n_strings; i++)
		n += strlen(strings[i]) + 1;
	n = (n + 7) & ~(size_t)7;
	if (n > CM_BATCH_BYTES - n_batch && n_batch) {
		rc = flush();
		if (rc < 0)
			return rc;
	}
	memset(batch + n_batch, CM_ITEM_PADDING,
	       n < CM_BATCH_BYTES - n_batch ? n : CM_BATCH_BYTES - n_batch);
	memcpy(batch + n_batch, fixed, n_fixed);
	n = n_fixed;
	for (size_t i = 0; i < n_strings; i++) {
		size_t n_string = strlen(strings[i]);

		/* A string that no batch could hold (a huge argument) is cut. */
		if (n_string > room - n - (n_strings - i))
			n_string = room - n - (n_strings - i);
		memcpy(batch + n_batch + n, strings[i], n_string);
		n += n_string;
		batch[n_batch + n++] = '\0';
	}
	n = (n + 7) & ~(size_t)7;
	fixed->bytes = (uint32_t)n;
	memcpy(batch + n_batch, fixed, sizeof(*fixed));
	n_batch += n;
	return 0;
}

int cm_process_append(struct cm_spool_item *fixed, size_t n_fixed, const char *const *strings,
		      size_t n_strings)
{
	int rc = add(fixed, n_fixed, strings, n_strings);

	if (rc >= 0)
		rc = flush();
	if (rc < 0)
		n_batch = 0;
	return rc;
}

static int add_site(const struct cm_site *site)
{
	struct cm_spool_site_item item = {.item.type = CM_ITEM_SITE,
					  .rule = site->rule ? site->rule->index : UINT32_MAX,
					  .region = site->region,
					  .kind = site->kind,
					  .state = site->state};
	const char *strings[] = {site->symbol, site->version, site->object, site->library,
				 site->reason};

	return add(&item.item, sizeof(item), strings, sizeof(strings) / sizeof(*strings));
}

static int add_region(uint32_t idx)
{
	const struct cm_region *region = &cm_regions[idx];
	struct cm_spool_region_item item = {.item.type = CM_ITEM_REGION,
					    .region = idx,
					    .rule = region->rule,
					    .max_events = region->max_events};

	return add(&item.item, sizeof(item), &region->tag, 1);
}

static int add_object(const struct cm_object_event *event)
{
	struct cm_spool_object_item item = {.item.type = CM_ITEM_OBJECT,
					    .base = event->base,
					    .low = event->low,
					    .high = event->high,
					    .is_closed = event->is_closed};
	const char *strings[] = {event->path, event->build_id};

	return add(&item.item, sizeof(item), strings, 2);
}

/* What a stub stands for; our own functions, which stand for the loader's, are nobody's source. */
static int add_function(uint32_t idx)
{
	const void *function = cm_stub_function(idx);
	const struct cm_object *object = cm_object_of(function);
	struct cm_spool_function_item item = {.item.type = CM_ITEM_FUNCTION,
					      .region = cm_stubs[idx].region,
					      .address = (uint64_t)function};

	if (object && object == cm_object_of(batch))
		return 0;
	return add(&item.item, sizeof(item), NULL, 0);
}

static int add_path(const struct cm_path *path)
{
	static struct {
		struct cm_spool_path_item head;
		uint64_t frames[CM_RULES_MAX_CALLERS];
	} item;

	item.head = (struct cm_spool_path_item){.item.type = CM_ITEM_PATH,
						.path = path->index,
						.region = path->region,
						.n_frames = path->n_frames,
						.flags = path->flags};
	memcpy(item.frames, path->frames, path->n_frames * sizeof(*path->frames));
	return add(&item.head.item, sizeof(item.head) + path->n_frames * sizeof(*path->frames),
		   NULL, 0);
}

/* What tells where in the code regions are. */
static int append_code(void)
{
	uint32_t n_objects = cm_object_log_count(), n_functions = cm_stub_count();
	uint32_t object = cm_process.n_objects_written, function = cm_process.n_functions_written;
	int rc = 0;

	while (rc >= 0 && object < n_objects)
		rc = add_object(cm_object_log_at(object++));
	while (rc >= 0 && function < n_functions)
		rc = add_function(function++);
	if (rc >= 0)
		rc = flush();
	n_batch = 0;
	if (rc < 0)
		return rc;
	cm_process.n_objects_written = n_objects;
	cm_process.n_functions_written = n_functions;
	return 0;
}

/* None is written twice, whatever fails: each has an index of its own. */
static int append_paths(void)
{
	const struct cm_path *last = cm_process.last_path_written;
	const struct cm_path *path = last ? last->created : cm_paths_first();
	int rc = 0;

	for (; rc >= 0 && path; path = path->created) {
		if (CM_BATCH_BYTES - n_batch < CM_PATH_ITEM_BYTES) {
			rc = flush();
			if (rc < 0)
				break;
			cm_process.last_path_written = last;
		}
		rc = add_path(path);
		last = path;
	}
	if (rc >= 0)
		rc = flush();
	n_batch = 0;
	if (rc >= 0)
		cm_process.last_path_written = last;
	return rc;
}

void cm_process_append_new(void)
{
	uint32_t n_regions = atomic_load_explicit(&cm_n_regions, memory_order_acquire);
	uint32_t n_sites = atomic_load_explicit(&cm_n_sites, memory_order_acquire);
	uint32_t region = cm_process.n_regions_written, site = cm_process.n_sites_written;
	int rc = 0;

	if (!cm_process.has_spool)
		return;
	while (rc >= 0 && region < n_regions)
		rc = add_region(region++);
	while (rc >= 0 && site < n_sites)
		rc = add_site(&cm_sites[site++]);
	if (rc >= 0)
		rc = flush();
	n_batch = 0;
	if (rc < 0)
		return; /* tried again with the next batch: the counts below stand still */
	cm_process.n_regions_written = n_regions;
	cm_process.n_sites_written = n_sites;
	if (append_code() >= 0)
		(void)append_paths(); /* tried again as well */
}

void cm_process_sync(bool force)
{
	struct cm_spool_sync_item sync = {.item.type = CM_ITEM_SYNC};

	if (!cm_process.has_spool)
		return;
	if (!force &&
	    cm_clock_now() - cm_process.last_sync_tick < cm_clock_ticks(UINT64_C(10000000000)))
		return;
	cm_clock_sync(&sync.tick, &sync.mono_ns, &sync.realtime_ns);
	cm_process.last_sync_tick = sync.tick;
	(void)cm_process_append(&sync.item, sizeof(sync), NULL, 0); /* others frame this time */
}

void cm_process_note(const char *text)
{
	struct cm_spool_item item = {.type = CM_ITEM_NOTE};

	if (cm_process.has_spool)
		(void)cm_process_append(&item, sizeof(item), &text, 1); /* a note, no more */
}
