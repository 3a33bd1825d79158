/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of paths. Its memory is given as it is needed; a mebipath would take 100 to 600 MB. */
#include "preload/paths.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "preload/process.h"
#include "preload/syscall.h"

#define CM_BUCKET_BITS 16
#define CM_CHUNK_BYTES (256u << 10)
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

struct table {
	_Atomic(const struct cm_path *) buckets[1u << CM_BUCKET_BITS];
	_Atomic(const struct cm_path *) others[CM_SPOOL_MAX_REGIONS]; /* once they are needed */
	uint16_t n_of_region[CM_SPOOL_MAX_REGIONS];
	uint32_t n;
	struct cm_path *first, *last; /* in the order in which they were made */
	char *next, *end;	      /* free part of the newest chunk */
};
static struct table *table;
static _Atomic uint32_t epoch;
static _Atomic bool is_stopped;

static size_t table_bytes(void)
{
	return (sizeof(*table) + 4095) & ~(size_t)4095;
}

int cm_paths_init(void)
{
	table = cm_sys_memory(table_bytes());
	if (!table)
		return -ENOMEM;
	(void)cm_sys3(SYS_madvise, (long)table, (long)table_bytes(),
		      MADV_WIPEONFORK); /* see init.c */
	return 0;
}

void cm_paths_forget(void)
{
	if (table)
		memset(table, 0, sizeof(*table));
}

void cm_paths_new_epoch(void)
{
	atomic_fetch_add_explicit(&epoch, 1, memory_order_release);
}

void cm_paths_stop(void)
{
	atomic_store_explicit(&is_stopped, true, memory_order_release);
	cm_paths_new_epoch();
}

const struct cm_path *cm_paths_first(void)
{
	return table ? table->first : NULL;
}

static inline uint64_t hash_of(const struct cm_path_key *key)
{
	uint64_t hash = key->region + UINT64_C(1) + ((uint64_t)key->flags << 32);

	/* All bits of an address reach the upper ones, which are what counts. */
	for (uint32_t i = 0; i < key->n_frames; i++)
		hash = (hash ^ key->frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash;
}

static bool is_same(const struct cm_path *path, const struct cm_path_key *key)
{
	if (path->region != key->region || path->n_frames != key->n_frames ||
	    path->flags != key->flags ||
	    path->epoch != atomic_load_explicit(&epoch, memory_order_acquire))
		return false;
	for (uint32_t i = 0; i < key->n_frames; i++)
		if (path->frames[i] != key->frames[i])
			return false;
	return true;
}

static const struct cm_path *find(const struct cm_path_key *key, uint64_t hash)
{
	const struct cm_path *path = atomic_load_explicit(
		&table->buckets[hash >> (64 - CM_BUCKET_BITS)], memory_order_acquire);

	while (path && (path->hash != hash || !is_same(path, key)))
		path = path->next;
	/* One that is not there will not be made any more, once the region has its last one. */
	return path ? path
		    : atomic_load_explicit(&table->others[key->region], memory_order_acquire);
}

const struct cm_path *cm_path_find(const struct cm_path_key *key)
{
	return find(key, hash_of(key));
}

static struct cm_path *get_room(size_t n_bytes)
{
	struct cm_path *path;

	if (n_bytes > (size_t)(table->end - table->next)) {
		char *chunk = cm_sys_memory(CM_CHUNK_BYTES);

		if (!chunk)
			return NULL;
		table->next = chunk;
		table->end = chunk + CM_CHUNK_BYTES;
	}
	path = (struct cm_path *)table->next;
	table->next += n_bytes;
	return path;
}

/* A new path, in the order of making; linked by the caller. */
static struct cm_path *add(const struct cm_path_key *key, uint64_t hash)
{
	struct cm_path *path;

	if (table->n == CM_MAX_PATHS)
		return NULL;
	path = get_room(sizeof(*path) + key->n_frames * sizeof(path->frames[0]));
	if (!path)
		return NULL;
	path->hash = hash;
	path->index = table->n++;
	path->region = key->region;
	path->n_frames = key->n_frames;
	path->flags = key->flags;
	path->epoch = atomic_load_explicit(&epoch, memory_order_relaxed);
	for (uint32_t i = 0; i < key->n_frames; i++)
		path->frames[i] = key->frames[i];
	if (table->last)
		table->last->created = path;
	else
		table->first = path;
	table->last = path;
	return path;
}

static const struct cm_path *make(const struct cm_path_key *key)
{
	const struct cm_path_key other = {.region = key->region, .flags = CM_PATH_OTHER};
	bool is_full = table->n_of_region[key->region] == CM_SPOOL_MAX_PATHS ||
		       table->n >= CM_MAX_PATHS - CM_SPOOL_MAX_REGIONS ||
		       atomic_load_explicit(&is_stopped, memory_order_acquire);
	uint64_t hash = hash_of(key);
	const struct cm_path *found = find(key, hash);
	_Atomic(const struct cm_path *) *place;
	struct cm_path *path;

	if (found)
		return found;
	path = add(is_full ? &other : key, hash);
	if (!path)
		return NULL;
	place = is_full ? &table->others[key->region]
			: &table->buckets[hash >> (64 - CM_BUCKET_BITS)];
	path->next = atomic_load_explicit(place, memory_order_relaxed);
	table->n_of_region[key->region] += !is_full;
	cm_process_append_new(); /* it is tried again, where that fails */
	atomic_store_explicit(place, path, memory_order_release);
	return path;
}

const struct cm_path *cm_path_make(const struct cm_path_key *key)
{
	const struct cm_path *path;

	cm_process_lock();
	path = make(key);
	cm_process_unlock();
	return path;
}
