/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/counters-map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/likwid-environment.h"

#define GROUP_BYTES 256

static int compare_tags(const void *a, const void *b)
{
	const struct cm_spool_marker *const *x = a, *const *y = b;

	return strcmp((*x)->tag, (*y)->tag);
}

static int sort_tags(struct cm_counters_map *map)
{
	struct cm_spool_reader *reader = map->reader;

	map->by_tag = cm_arena_array(&reader->arena, reader->n_markers, sizeof(*map->by_tag));
	if (!map->by_tag)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_markers; i++) {
		if (reader->markers[i].tag)
			map->by_tag[map->n_by_tag++] = &reader->markers[i];
	}
	if (map->n_by_tag)
		qsort(map->by_tag, map->n_by_tag, sizeof(*map->by_tag), compare_tags);
	return 0;
}

/* The names in LIKWID_EVENTS, for sources that have none. */
static int name_groups(struct cm_counters_map *map)
{
	struct cm_arena *arena = &map->reader->arena;
	const char *events = cm_spool_reader_getenv(map->reader, "LIKWID_EVENTS");
	size_t n = cm_likwid_count_groups(events);
	char name[GROUP_BYTES];
	const char **names;

	n = n < CM_LIKWID_MAX_GROUPS ? n : CM_LIKWID_MAX_GROUPS;
	names = cm_arena_array(arena, n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		bool is_custom = cm_likwid_get_group(events, i, name, sizeof(name)) < 0 ||
				 cm_likwid_is_custom(name);

		names[i] = is_custom ? CM_LIKWID_CUSTOM : cm_arena_copy(arena, name, strlen(name));
		if (!names[i])
			return -ENOMEM;
	}
	map->group_names = names;
	map->n_groups = n;
	return 0;
}

int cm_counters_map_init(struct cm_counters_map *map, struct cm_spool_reader *reader)
{
	int rc;

	memset(map, 0, sizeof(*map));
	map->reader = reader;
	rc = sort_tags(map);
	return rc < 0 ? rc : name_groups(map);
}

static const char *find_region_tag(const struct cm_counters_map *map,
				   const struct cm_spool_marker *marker)
{
	const struct cm_spool_reader *reader = map->reader;

	if (marker->region >= reader->n_regions || !reader->regions[marker->region].tag)
		return marker->tag;
	return reader->regions[marker->region].tag;
}

/* The real tag of one that LIKWID has. */
static const char *find_tag(const struct cm_counters_map *map, const char *tag)
{
	const struct cm_spool_marker wanted = {.tag = tag}, *key = &wanted;
	const struct cm_spool_marker **found;

	if (!map->n_by_tag)
		return tag;
	found = bsearch(&key, map->by_tag, map->n_by_tag, sizeof(*map->by_tag), compare_tags);
	return found ? find_region_tag(map, *found) : tag;
}

static const char *find_group(const struct cm_counters_map *map, int64_t group)
{
	return group >= 0 && (uint64_t)group < map->n_groups ? map->group_names[group] : "";
}

/* Room for n more. */
static int reserve(struct cm_counters_map *map, size_t n)
{
	struct cm_profile_counters *more;

	if (map->n_counters + n <= map->n_room)
		return 0;
	more = cm_arena_array(&map->reader->arena, map->n_counters + n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	if (map->n_counters)
		memcpy(more, map->counters, map->n_counters * sizeof(*more));
	map->counters = more;
	map->n_room = map->n_counters + n;
	return 0;
}

int cm_counters_map_add_result(struct cm_counters_map *map, const struct cm_reader_result *result)
{
	int rc = reserve(map, result->n_counters);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < result->n_counters; i++) {
		struct cm_profile_counters *counters = &map->counters[map->n_counters++];

		*counters = result->counters[i];
		counters->tag = find_tag(map, counters->tag);
	}
	return 0;
}

/* event_0, event_1, ...: one list for all, of which most need the beginning. */
static const char *const *make_names(struct cm_counters_map *map, size_t n)
{
	struct cm_arena *arena = &map->reader->arena;
	const char **names;

	if (map->event_names && n <= map->n_event_names)
		return map->event_names;
	names = cm_arena_array(arena, n, sizeof(*names));
	for (size_t i = 0; names && i < n; i++) {
		names[i] = cm_arena_format(arena, "event_%zu", i);
		if (!names[i])
			return NULL;
	}
	map->event_names = names;
	map->n_event_names = n;
	return names;
}

/* One region with n_cpus columns, empty. NULL: no memory. */
static struct cm_profile_counters *add_counters(struct cm_counters_map *map, const char *tag,
						int64_t group, size_t n_events, size_t n_cpus)
{
	struct cm_arena *arena = &map->reader->arena;
	struct cm_profile_counters *counters;

	if (reserve(map, 1) < 0)
		return NULL;
	counters = &map->counters[map->n_counters];
	memset(counters, 0, sizeof(*counters));
	counters->tag = tag;
	counters->group_id = group;
	counters->group_name = find_group(map, group);
	counters->event_names = make_names(map, n_events);
	counters->n_events = n_events;
	counters->n_cpus = n_cpus;
	counters->cpus = cm_arena_array(arena, n_cpus, sizeof(int64_t));
	counters->times = cm_arena_array(arena, n_cpus, sizeof(double));
	counters->call_counts = cm_arena_array(arena, n_cpus, sizeof(int64_t));
	counters->events = cm_arena_array(arena, n_events * n_cpus, sizeof(double));
	counters->metrics = cm_arena_array(arena, 0, sizeof(double));
	counters->metric_names = cm_arena_array(arena, 0, sizeof(char *));
	if (!counters->event_names || !counters->cpus || !counters->times ||
	    !counters->call_counts || !counters->events || !counters->metrics ||
	    !counters->metric_names)
		return NULL;
	map->n_counters++;
	return counters;
}

/* Column `to` of what add_counters() made; the values lie `stride` apart. */
static void set_column(struct cm_profile_counters *counters, size_t to, int64_t cpu, double seconds,
		       int64_t count, const double *values, size_t stride)
{
	/* Made by us; the profile shows them const. */
	double *events = (double *)counters->events;

	((int64_t *)counters->cpus)[to] = cpu;
	((double *)counters->times)[to] = seconds;
	((int64_t *)counters->call_counts)[to] = count;
	for (size_t i = 0; i < counters->n_events; i++)
		events[i * counters->n_cpus + to] = values[i * stride];
}

static int add_region(struct cm_counters_map *map, const struct cm_marker_region *region)
{
	struct cm_profile_counters *counters;
	size_t n_cpus = 0, to = 0;

	for (size_t i = 0; i < region->n_rows; i++)
		n_cpus += region->counts[i] > 0;
	if (!region->tag || !n_cpus)
		return 0;
	counters = add_counters(map, find_tag(map, region->tag), region->group, region->n_events,
				n_cpus);
	if (!counters)
		return -ENOMEM;
	counters->source = "marker_file";
	for (size_t i = 0; i < region->n_rows; i++) {
		if (region->counts[i] > 0)
			set_column(counters, to++, region->cpus[i], region->times[i],
				   region->counts[i], region->events + i, region->n_rows);
	}
	return 0;
}

int cm_counters_map_add_file(struct cm_counters_map *map, const struct cm_marker_file *file)
{
	int rc = reserve(map, file->n_regions);

	for (size_t i = 0; rc == 0 && i < file->n_regions; i++)
		rc = add_region(map, &file->regions[i]);
	return rc;
}

static bool has_counters(const struct cm_counters_map *map, size_t n, const char *tag,
			 int64_t group)
{
	for (size_t i = 0; i < n; i++) {
		if (map->counters[i].group_id == group && !strcmp(map->counters[i].tag, tag))
			return true;
	}
	return false;
}

int cm_counters_map_add_snapshots(struct cm_counters_map *map)
{
	const struct cm_spool_reader *reader = map->reader;
	size_t n_before = map->n_counters;
	int rc = reserve(map, reader->n_snapshots);

	for (size_t i = 0; rc == 0 && i < reader->n_snapshots; i++) {
		const struct cm_spool_snapshot_item *head = reader->snapshots[i].head;
		const struct cm_spool_marker *marker = &reader->markers[head->marker];
		struct cm_profile_counters *counters;
		const char *tag;

		if (!marker->tag || !head->count || head->count > INT64_MAX)
			continue;
		tag = find_region_tag(map, marker);
		if (has_counters(map, n_before, tag, head->group))
			continue;
		counters = add_counters(map, tag, head->group, head->n_events, 1);
		if (!counters)
			return -ENOMEM;
		counters->source = "marker_api";
		set_column(counters, 0, head->cpu, head->seconds, (int64_t)head->count,
			   reader->snapshots[i].events, 1);
	}
	return rc;
}
