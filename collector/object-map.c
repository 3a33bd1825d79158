/* SPDX-License-Identifier: BSD-3-Clause */
/* A sorted table of what is loaded, brought forward item by item. */
#include "collector/object-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No process has as many; it bounds what hostile items cost. */
#define MAX_LIVE 65536
#define MAX_AHEAD 1024

void cm_object_map_init(struct cm_object_map *map, const struct cm_spool_reader *reader)
{
	memset(map, 0, sizeof(*map));
	map->reader = reader;
}

void cm_object_map_fini(struct cm_object_map *map)
{
	free(map->live);
	map->live = NULL;
}

/* The first live object that ends behind this address. */
static size_t find_place(const struct cm_object_map *map, uint64_t address)
{
	size_t low = 0, high = map->n_live;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (map->live[mid]->high <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int make_room(struct cm_object_map *map)
{
	const struct cm_spool_object **more;

	if (map->n_live < map->n_room)
		return 0;
	map->n_room = map->n_room ? 2 * map->n_room : 64;
	more = reallocarray(map->live, map->n_room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	map->live = more;
	return 0;
}

/* Whatever was at the object's addresses before is gone now, noted or not. */
static int apply(struct cm_object_map *map, const struct cm_spool_object *object)
{
	size_t first = find_place(map, object->low), end = first, n_new;

	while (end < map->n_live && map->live[end]->low < object->high)
		end++;
	n_new = !object->is_closed && map->n_live - (end - first) < MAX_LIVE;
	if (n_new && make_room(map) < 0)
		return -ENOMEM;
	if (end < map->n_live && end != first + n_new)
		memmove(&map->live[first + n_new], &map->live[end],
			(map->n_live - end) * sizeof(*map->live));
	if (n_new)
		map->live[first] = object;
	map->n_live = map->n_live - (end - first) + n_new;
	return 0;
}

int cm_object_map_seek(struct cm_object_map *map, size_t n_objects)
{
	int rc = 0;

	if (n_objects > map->reader->n_objects)
		n_objects = map->reader->n_objects;
	while (rc == 0 && map->n_seen < n_objects)
		rc = apply(map, &map->reader->objects[map->n_seen++]);
	return rc;
}

const struct cm_spool_object *cm_object_map_find(const struct cm_object_map *map, uint64_t address)
{
	const struct cm_spool_reader *reader = map->reader;
	size_t place = find_place(map, address), end = reader->n_objects;

	if (place < map->n_live && map->live[place]->low <= address)
		return map->live[place];
	if (end > map->n_seen + MAX_AHEAD)
		end = map->n_seen + MAX_AHEAD;
	for (size_t i = map->n_seen; i < end; i++) {
		const struct cm_spool_object *object = &reader->objects[i];

		if (!object->is_closed && object->low <= address && address < object->high)
			return object;
	}
	return NULL;
}
