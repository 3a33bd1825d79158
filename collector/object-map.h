/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which object was where, at any point of the process file.
 *
 *	cm_object_map_init(&map, reader);
 *	rc = cm_object_map_seek(&map, path->n_objects);       forward only
 *	object = cm_object_map_find(&map, address);
 *	cm_object_map_fini(&map);
 *
 * An address is looked up among the objects loaded at that point; where none of them has it, in the
 * next ones that were loaded: what runs in a constructor is seen before its object is noted.
 *
 * Objects are the reader's. Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_OBJECT_MAP_H
#define CALLMARK_COLLECTOR_OBJECT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "collector/spool-reader.h"

struct cm_object_map {
	const struct cm_spool_reader *reader;
	const struct cm_spool_object **live; /* ascending, apart from one another */
	size_t n_live, n_room;
	size_t n_seen; /* items that are taken into account */
};

void cm_object_map_init(struct cm_object_map *map, const struct cm_spool_reader *reader);
void cm_object_map_fini(struct cm_object_map *map);

int cm_object_map_seek(struct cm_object_map *map, size_t n_objects);

/* NULL: none. */
const struct cm_spool_object *cm_object_map_find(const struct cm_object_map *map, uint64_t address);

#endif
