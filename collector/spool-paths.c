/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of call paths (objects, functions, paths), and the slots' sums by path. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/spool-item.h"

/* Indices are dense, but for items that found no room on the disk. */
#define MAX_PATHS ((size_t)1 << 22)
#define SPARE_PATHS 4096
#ifdef CM_SMALL_PIECES /* fuzzers */
#define N_PIECE 2
#else
#define N_PIECE 2048
#endif

void cm_spool_paths_count(struct cm_spool_reader *reader, const struct cm_item *item)
{
	const struct cm_spool_path_item *path = (const void *)item->data;

	if (item->type == CM_ITEM_OBJECT) {
		reader->n_objects++;
	} else if (item->type == CM_ITEM_FUNCTION) {
		reader->n_functions++;
	} else if (item->type == CM_ITEM_PATH) {
		reader->n_path_items++;
		if (path->path < MAX_PATHS && path->path >= reader->n_paths)
			reader->n_paths = (size_t)path->path + 1;
	}
}

int cm_spool_paths_make(struct cm_spool_reader *reader)
{
	struct cm_arena *arena = &reader->arena;
	size_t n_plausible = 2 * reader->n_path_items + SPARE_PATHS;

	if (reader->n_paths > n_plausible)
		reader->n_paths = n_plausible;
	reader->objects = cm_arena_array(arena, reader->n_objects, sizeof(*reader->objects));
	reader->functions = cm_arena_array(arena, reader->n_functions, sizeof(*reader->functions));
	reader->paths = cm_arena_array(arena, reader->n_paths, sizeof(*reader->paths));
	reader->n_objects = reader->n_functions = 0;
	return reader->objects && reader->functions && reader->paths ? 0 : -ENOMEM;
}

static void take_object(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_object_item *in = (const void *)item->data;
	struct cm_spool_object *object;

	if (in->low >= in->high) {
		reader->n_bad_items++;
		return;
	}
	object = &reader->objects[reader->n_objects++];
	object->base = in->base;
	object->low = in->low;
	object->high = in->high;
	object->is_closed = in->is_closed != 0;
	object->path = cm_item_next_text(item);
	object->build_id = cm_item_next_text(item);
}

static void take_function(struct cm_spool_reader *reader, const struct cm_item *item)
{
	const struct cm_spool_function_item *in = (const void *)item->data;

	if (in->region >= reader->n_regions) {
		reader->n_bad_items++;
		return;
	}
	reader->functions[reader->n_functions++] = (struct cm_spool_function){
		.region = in->region,
		.n_objects = reader->n_objects,
		.address = in->address,
	};
}

static void take_path(struct cm_spool_reader *reader, const struct cm_item *item)
{
	const struct cm_spool_path_item *in = (const void *)item->data;
	size_t n_room = (size_t)(item->end - item->text) / sizeof(uint64_t);
	struct cm_spool_path *path;

	if (in->path >= reader->n_paths || in->region >= reader->n_regions ||
	    in->n_frames > n_room || reader->paths[in->path].frames) {
		reader->n_bad_items++;
		return;
	}
	path = &reader->paths[in->path];
	path->frames = (const void *)item->text; /* 8-aligned, as the item is */
	path->n_frames = in->n_frames;
	path->region = in->region;
	path->flags = in->flags;
	path->n_objects = reader->n_objects;
}

void cm_spool_paths_take(struct cm_spool_reader *reader, struct cm_item *item)
{
	if (item->type == CM_ITEM_OBJECT)
		take_object(reader, item);
	else if (item->type == CM_ITEM_FUNCTION)
		take_function(reader, item);
	else if (item->type == CM_ITEM_PATH)
		take_path(reader, item);
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* 1: go on; 0: the file's last one was before. A path that the items do not (yet) have is passed
 * over: its calls are among the others. */
static int add_total(struct cm_spool_reader *reader, const struct cm_spool_path_total *total)
{
	struct cm_spool_path *path;

	if (!total->used)
		return 0;
	if (total->path >= reader->n_paths || !reader->paths[total->path].frames)
		return 1;
	path = &reader->paths[total->path];
	path->n_calls = add_capped(path->n_calls, total->n_calls);
	path->total_ticks = add_capped(path->total_ticks, total->total_ticks);
	return 1;
}

int cm_spool_reader_add_paths(struct cm_spool_reader *reader, const char *name)
{
	struct cm_spool_path_total *totals;
	uint64_t off = 0;
	size_t n = N_PIECE;
	int fd = cm_spool_reader_open_file(reader, name), rc = 1;

	if (fd < 0) {
		reader->n_bad_files++;
		return 0;
	}
	totals = malloc(N_PIECE * sizeof(*totals));
	if (!totals)
		rc = -ENOMEM;
	while (rc > 0 && n == N_PIECE) {
		long n_bytes = cm_spool_reader_pread(fd, totals, N_PIECE * sizeof(*totals), off);

		n = n_bytes < 0 ? 0 : (size_t)n_bytes / sizeof(*totals);
		off += n * sizeof(*totals);
		for (size_t i = 0; rc > 0 && i < n; i++)
			rc = add_total(reader, &totals[i]);
	}
	free(totals);
	close(fd);
	return rc < 0 ? rc : 0;
}
