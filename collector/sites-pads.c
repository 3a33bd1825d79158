/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries without room for five bytes: a jump of two to padding nearby, or a trap.
 *
 * Padding that the compiler left for this purpose is used without being asked; that between other
 * functions, and traps, only where the rule says force=trap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/code-entry.h"
#include "collector/sites.h"

#define MAX_GAPS 16
#define REACH 127 /* of a jump of two bytes, from its end */

struct gap {
	uint64_t begin, end;
};

/* The table's own words. */
struct table {
	struct cm_sites_object *object;
	struct cm_code_part section;
	size_t n_room;
};

static int add_pad(void *ctx, uint64_t place, uint64_t value)
{
	struct table *table = ctx;
	struct cm_sites_object *object = table->object;

	if (place < table->section.begin || place >= table->section.end)
		return 0;
	if (object->n_pads < table->n_room)
		object->pads[object->n_pads++] = value;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int cm_sites_pads_read(struct cm_sites_object *object, struct cm_diag *diag)
{
	struct table table = {.object = object};
	int rc;

	if (!cm_elf_code_section(object->elf, "__patchable_function_entries", &table.section))
		return 0;
	table.n_room = (size_t)(table.section.end - table.section.begin) / 8;
	object->pads = calloc(table.n_room + 1, sizeof(object->pads[0]));
	if (!object->pads)
		return -ENOMEM;
	rc = cm_elf_code_words(&object->code, object->elf, add_pad, &table, diag);
	if (object->n_pads)
		qsort(object->pads, object->n_pads, sizeof(object->pads[0]), by_value);
	return rc;
}

static void add_gap(const struct cm_sites_object *object, struct gap *gaps, size_t *n_gaps,
		    uint64_t begin, uint64_t limit)
{
	uint64_t end = begin + cm_sites_count_padding(object, begin, limit);

	if (end - begin >= CM_SITE_JUMP_BYTES && *n_gaps < MAX_GAPS)
		gaps[(*n_gaps)++] = (struct gap){begin, end};
}

/* Nops that the compiler left before the entry. */
static void add_own_pad(const struct cm_sites_object *object, const struct cm_sites_row *row,
			struct gap *gaps, size_t *n_gaps)
{
	const struct cm_code_part *text = cm_elf_code_text(&object->code, row->site.offset);
	size_t low = 0, high = object->n_pads;
	uint64_t begin;

	while (low < high) { /* the first one that is not before the entry */
		size_t mid = low + (high - low) / 2;

		if (object->pads[mid] < row->site.offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return;
	begin = object->pads[low - 1];
	if (begin < text->begin || row->site.offset - begin > REACH ||
	    cm_code_map_next_start(&object->map, begin + 1, row->site.offset + 1) !=
		    row->site.offset ||
	    cm_code_entry_padding(text->bytes + (begin - text->begin), row->site.offset - begin) !=
		    row->site.offset - begin)
		return;
	if (row->site.offset - begin >= CM_SITE_JUMP_BYTES)
		gaps[(*n_gaps)++] = (struct gap){begin, row->site.offset};
}

/* Between the functions around: behind those that end in reach. */
static void add_gaps_around(const struct cm_sites_object *object, const struct cm_sites_row *row,
			    struct gap *gaps, size_t *n_gaps)
{
	const struct cm_elf_symbol *symbols = object->symbols.symbols;
	size_t n_symbols = object->symbols.n_symbols;
	size_t first = row->first_alias > MAX_GAPS ? row->first_alias - MAX_GAPS : 0;
	uint64_t last = 0;

	for (size_t i = first; i < n_symbols && symbols[i].address < row->site.place + REACH; i++) {
		uint64_t end = symbols[i].address + symbols[i].size;

		if (end == last || !symbols[i].size || end + REACH < row->site.place ||
		    end > row->site.place + REACH)
			continue;
		last = end;
		add_gap(object, gaps, n_gaps, end, UINT64_MAX);
	}
}

static size_t find_gaps(const struct cm_sites_object *object, const struct cm_sites_row *row,
			struct gap gaps[MAX_GAPS])
{
	size_t n_gaps = 0;

	add_own_pad(object, row, gaps, &n_gaps);
	if (row->rule->force_trap)
		add_gaps_around(object, row, gaps, &n_gaps);
	return n_gaps;
}

void cm_sites_pads_watch(struct cm_sites_object *object, const struct cm_sites_row *row)
{
	struct gap gaps[MAX_GAPS];
	size_t n_gaps = find_gaps(object, row, gaps);

	for (size_t i = 0; i < n_gaps; i++)
		for (uint64_t address = gaps[i].begin; address < gaps[i].end; address++)
			cm_code_map_set(object->map.watched, &object->map, address);
}

static bool is_free(const struct cm_sites_object *object, uint64_t pad)
{
	size_t branch = cm_code_sweep_first(&object->sweep, pad);

	if (branch < object->sweep.n_branches &&
	    object->sweep.branches[branch].to < pad + CM_SITE_JUMP_BYTES)
		return false;
	for (unsigned int i = 0; i < CM_SITE_JUMP_BYTES; i++)
		if (cm_code_map_has(object->map.taken, &object->map, pad + i))
			return false;
	return true;
}

/* Five free bytes that a jump of two at `place` reaches; the last ones before the entry first. */
static bool find_pad(const struct cm_sites_object *object, uint64_t place, const struct gap *gap,
		     uint64_t *ret_pad)
{
	for (uint64_t pad = gap->end - CM_SITE_JUMP_BYTES; pad >= gap->begin; pad--) {
		int64_t distance = (int64_t)(pad - place - CM_SITE_SHORT_BYTES);

		if (distance >= -REACH - 1 && distance <= REACH && is_free(object, pad)) {
			*ret_pad = pad;
			return true;
		}
	}
	return false;
}

static bool take_pad(struct cm_sites_object *object, struct cm_sites_row *row)
{
	struct cm_site_function *site = &row->site;
	struct gap gaps[MAX_GAPS];
	size_t n_gaps = find_gaps(object, row, gaps);

	for (size_t i = 0; i < n_gaps; i++) {
		if (!find_pad(object, site->place, &gaps[i], &site->pad))
			continue;
		site->n_pad = CM_SITE_JUMP_BYTES;
		memcpy(site->expected_pad,
		       cm_elf_code_at(&object->code, site->pad, CM_SITE_JUMP_BYTES),
		       CM_SITE_JUMP_BYTES);
		for (unsigned int j = 0; j < CM_SITE_JUMP_BYTES; j++)
			cm_code_map_set(object->map.taken, &object->map, site->pad + j);
		return true;
	}
	return false;
}

/* Plan and check for a jump of so many bytes; 1: it can be so. */
static int try_bytes(struct cm_sites_object *object, struct cm_sites_row *row, unsigned int n_jump)
{
	struct cm_code_entry entry;
	int rc = cm_sites_plan_entry(object, row, n_jump, &entry);

	if (rc < 0)
		return 0;
	row->site.how = n_jump == 1 ? CM_SITE_HOW_TRAP : CM_SITE_HOW_SHORT;
	rc = cm_sites_check_row(object, row, &entry);
	return rc < 0 ? rc : row->site.how != CM_SITE_HOW_REFUSED;
}

int cm_sites_shorten(struct cm_sites_object *object, struct cm_sites_row *row)
{
	const char *reason = row->reason;
	int rc = try_bytes(object, row, CM_SITE_SHORT_BYTES);

	if (rc > 0 && !take_pad(object, row))
		rc = 0;
	if (!rc && row->rule->force_trap)
		rc = try_bytes(object, row, 1);
	if (rc > 0)
		row->reason = "";
	return rc ? rc : cm_sites_refuse(object, row, "%s", reason);
}
