/* SPDX-License-Identifier: BSD-3-Clause */
/* The items of hardware counters: state, markers, skips, snapshots. */
#include <errno.h>
#include <string.h>

#include "collector/spool-item.h"

#define MAX_MARKERS (1u << 20)

void cm_spool_counters_count(struct cm_spool_reader *reader, const struct cm_item *item)
{
	const struct cm_spool_marker_item *marker = (const void *)item->data;

	if (item->type == CM_ITEM_MARKER && marker->marker < MAX_MARKERS &&
	    marker->marker >= reader->n_markers)
		reader->n_markers = (size_t)marker->marker + 1;
	else if (item->type == CM_ITEM_SNAPSHOT)
		reader->n_snapshots++;
}

int cm_spool_counters_make(struct cm_spool_reader *reader)
{
	struct cm_arena *arena = &reader->arena;

	reader->markers = cm_arena_array(arena, reader->n_markers, sizeof(*reader->markers));
	reader->snapshots = cm_arena_array(arena, reader->n_snapshots, sizeof(*reader->snapshots));
	reader->n_snapshots = 0;
	return reader->markers && reader->snapshots ? 0 : -ENOMEM;
}

static void take_marker(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_marker_item *in = (const void *)item->data;
	struct cm_spool_marker *marker;

	if (in->marker >= reader->n_markers) {
		reader->n_bad_items++;
		return;
	}
	marker = &reader->markers[in->marker];
	marker->tag = cm_item_next_text(item);
	marker->region = in->region;
}

static void take_snapshot(struct cm_spool_reader *reader, struct cm_item *item)
{
	const struct cm_spool_snapshot_item *in = (const void *)item->data;
	size_t n_room = (size_t)(item->end - item->text) / sizeof(double);

	if (in->n_events > n_room || in->marker >= reader->n_markers) {
		reader->n_bad_items++;
		return;
	}
	reader->snapshots[reader->n_snapshots].head = in;
	reader->snapshots[reader->n_snapshots].events = (const void *)item->text;
	reader->n_snapshots++;
}

void cm_spool_counters_take(struct cm_spool_reader *reader, struct cm_item *item)
{
	switch (item->type) {
	case CM_ITEM_COUNTERS:
		memcpy(&reader->counters, item->data, item->n_fixed);
		reader->has_counters = true;
		reader->likwid_path = cm_item_next_text(item);
		reader->counters_reason = cm_item_next_text(item);
		break;
	case CM_ITEM_MARKER:
		take_marker(reader, item);
		break;
	case CM_ITEM_SKIPS:
		memcpy(&reader->skips, item->data, item->n_fixed);
		break;
	case CM_ITEM_SNAPSHOT:
		take_snapshot(reader, item);
		break;
	}
}
