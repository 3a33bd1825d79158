/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From what LIKWID calls things to what the profile does: tags, groups, threads that took part.
 *
 *	rc = cm_counters_map_init(&map, &reader);
 *	rc = cm_counters_map_add_result(&map, &result);         the richest source,
 *	rc = cm_counters_map_add_file(&map, &file);             else this,
 *	rc = cm_counters_map_add_snapshots(&map);               and what it does not have
 *	... map.counters, map.n_counters ...
 *
 * A tag of CM_ITEM_MARKER becomes that of its region; others are the program's own. Rows without a
 * call are left out: LIKWID lists threads that only registered a tag, too. Everything is in the
 * reader's arena, or borrowed from the sources.
 *
 * Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_COUNTERS_MAP_H
#define CALLMARK_COLLECTOR_COUNTERS_MAP_H

#include <stddef.h>

#include "collector/marker-file.h"
#include "collector/profile.h"
#include "collector/reader-result.h"
#include "collector/spool-reader.h"

struct cm_counters_map {
	struct cm_spool_reader *reader;
	const struct cm_spool_marker **by_tag; /* sorted by LIKWID's tag */
	size_t n_by_tag;
	const char *const *group_names; /* of LIKWID_EVENTS */
	size_t n_groups;
	const char *const *event_names; /* positional ones */
	size_t n_event_names;
	struct cm_profile_counters *counters;
	size_t n_counters;
	size_t n_room;
};

int cm_counters_map_init(struct cm_counters_map *map, struct cm_spool_reader *reader);

int cm_counters_map_add_result(struct cm_counters_map *map, const struct cm_reader_result *result);
int cm_counters_map_add_file(struct cm_counters_map *map, const struct cm_marker_file *file);

/* Those whose tag and group no other source has. */
int cm_counters_map_add_snapshots(struct cm_counters_map *map);

#endif
