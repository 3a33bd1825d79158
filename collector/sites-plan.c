/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How each entry can be changed: first by what stands there, then by what leads there from all over
 * the object; where five bytes do not do, and the rule allows it, by fewer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/code-entry.h"
#include "collector/sites.h"

#define WATCHED_BYTES 24u     /* what an instruction that begins in two bytes may reach, and more */
#define BOUNDARY UINT64_C(16) /* unknown functions may begin there */

int cm_sites_refuse(struct cm_sites_object *object, struct cm_sites_row *row, const char *format,
		    ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	row->site.how = CM_SITE_HOW_REFUSED;
	row->site.n_expected = row->site.n_moved = row->site.n_fixups = row->site.is_single = 0;
	row->reason = cm_arena_copy(&object->arena, text, strlen(text));
	return row->reason ? 0 : -ENOMEM;
}

static void watch(struct cm_sites_object *object, uint64_t begin, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		cm_code_map_set(object->map.watched, &object->map, begin + i);
}

size_t cm_sites_count_padding(const struct cm_sites_object *object, uint64_t address,
			      uint64_t limit)
{
	const struct cm_code_part *text = cm_elf_code_text(&object->code, address);

	if (!text)
		return 0;
	if (limit > text->end)
		limit = text->end;
	limit = cm_code_map_next_start(&object->map, address, limit);
	return limit > address ? cm_code_entry_padding(text->bytes + (address - text->begin),
						       limit - address)
			       : 0;
}

/* The entry's bytes for a jump of n_jump; the padding behind a short function may be used. */
int cm_sites_plan_entry(const struct cm_sites_object *object, struct cm_sites_row *row,
			unsigned int n_jump, struct cm_code_entry *entry)
{
	uint64_t end = row->site.offset + row->site.size;

	*entry = (struct cm_code_entry){
		.bytes = cm_elf_code_at(&object->code, row->site.offset, row->site.size),
		.address = row->site.offset,
		.n_function = row->site.size,
		.n_all = row->site.size,
		.n_jump = n_jump,
	};
	if (row->site.size < CM_CODE_ENDBR_BYTES + CM_SITE_JUMP_BYTES)
		entry->n_all +=
			cm_sites_count_padding(object, end, (end + BOUNDARY - 1) & ~(BOUNDARY - 1));
	return cm_code_entry_plan(entry, &row->site);
}

/* Padding behind a function that its own jump needs is nobody else's. */
static void take_padding(struct cm_sites_object *object, const struct cm_sites_row *row)
{
	uint64_t address = row->site.offset + row->site.size;

	for (; address < row->site.place + row->site.n_expected; address++)
		cm_code_map_set(object->map.taken, &object->map, address);
}

static int plan_row(struct cm_sites_object *object, struct cm_sites_row *row)
{
	struct cm_code_entry entry;
	int rc = cm_sites_plan_entry(object, row, CM_SITE_JUMP_BYTES, &entry);

	if (rc >= 0) {
		row->site.how = CM_SITE_HOW_JUMP;
		watch(object, row->site.offset,
		      row->site.place - row->site.offset + row->site.n_expected);
		take_padding(object, row);
	} else {
		watch(object, row->site.offset,
		      row->site.size < WATCHED_BYTES ? row->site.size : WATCHED_BYTES);
	}
	return rc < 0 ? cm_sites_refuse(object, row, "%s", entry.reason) : 0;
}

/* Is it in the function, or in the part of it that stands elsewhere? */
static bool is_own(const struct cm_sites_object *object, const struct cm_sites_row *row,
		   uint64_t address)
{
	const struct cm_elf_symbol *symbols = object->symbols.symbols;
	size_t low = 0, high = object->symbols.n_symbols;

	if (address >= row->site.offset && address < row->site.offset + row->site.size)
		return true;
	while (low < high) { /* the last symbol that is not behind it */
		size_t mid = low + (high - low) / 2;

		if (symbols[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	while (low-- > 0 && symbols[low].address + symbols[low].size > address) {
		const char *cold = cm_sites_is_cold(symbols[low].name)
					   ? strstr(symbols[low].name, ".cold")
					   : NULL;

		for (size_t i = 0; cold && i < row->n_aliases; i++) {
			const char *name = symbols[row->first_alias + i].name;
			size_t n = (size_t)(cold - symbols[low].name);

			if (strlen(name) == n && !memcmp(name, symbols[low].name, n))
				return true;
		}
	}
	return false;
}

/* What is wrong with changing this entry as planned; 1 where not even a trap would be right. */
int cm_sites_check_row(struct cm_sites_object *object, struct cm_sites_row *row,
		       const struct cm_code_entry *entry)
{
	const struct cm_site_function *site = &row->site;
	const struct cm_code_sweep *sweep = &object->sweep;
	uint64_t end = site->place + site->n_expected;
	uint64_t start = cm_code_map_next_start(&object->map, site->offset + 1, end);

	if (start < end)
		return cm_sites_refuse(object, row,
				       "branch: something else begins %lu bytes "
				       "behind the entry",
				       start - site->offset);
	for (size_t i = cm_code_sweep_first(sweep, site->offset);
	     i < sweep->n_branches && sweep->branches[i].to < end; i++) {
		const struct cm_code_branch *branch = &sweep->branches[i];
		bool is_inside = branch->to > site->place;

		if (!is_inside &&
		    (branch->kind == CM_BRANCH_CALL || !is_own(object, row, branch->from)))
			continue; /* it enters the function */
		if (!is_inside && branch->kind == CM_BRANCH_JUMP)
			return cm_sites_refuse(object, row,
					       "branch: the function jumps back to its entry from "
					       "0x%lx",
					       branch->from) < 0
				       ? -ENOMEM
				       : 1;
		return cm_sites_refuse(
			object, row,
			branch->kind == CM_BRANCH_JUMP || branch->kind == CM_BRANCH_CALL
				? "branch: from 0x%lx into the moved instructions"
			: branch->kind == CM_BRANCH_LANDING
				? "branch: an exception in 0x%lx ends in the moved instructions"
				: "table: used at 0x%lx, leads into the moved instructions",
			branch->from);
	}
	/* Nothing leads into one instruction, nor behind a frame that is half made. */
	if (!entry->has_prologue && entry->n_instructions > 1 &&
	    cm_code_sweep_is_unknown(sweep, site->offset, site->offset + site->size))
		return cm_sites_refuse(object, row,
				       "table: an indirect jump whose targets are not known");
	return 0;
}

static int add_word(void *ctx, uint64_t place, uint64_t value)
{
	struct cm_sites_object *object = ctx;

	return cm_code_sweep_add_word(&object->sweep, &object->map, place, value);
}

static int add_landing(void *ctx, uint64_t from, uint64_t to)
{
	struct cm_sites_object *object = ctx;

	return cm_code_sweep_add(&object->sweep, &object->map, from, to, CM_BRANCH_LANDING);
}

/* Everything in the object that leads to watched bytes. */
static int sweep(struct cm_sites_object *object, struct cm_diag *diag)
{
	int rc = cm_code_sweep(&object->sweep, &object->code, &object->map);

	if (rc >= 0)
		rc = cm_code_sweep_tables(&object->sweep, &object->code, &object->map);
	if (rc >= 0)
		rc = cm_elf_code_words(&object->code, object->elf, add_word, object, diag);
	if (rc >= 0)
		rc = cm_elf_frames_landings(&object->frames, &object->code, add_landing, object);
	cm_code_sweep_sort(&object->sweep);
	return rc;
}

static bool may_shorten(const struct cm_sites_object *object, const struct cm_sites_row *row)
{
	return row->rule->force_trap || object->n_pads;
}

/* Not refused for what it is. */
static bool is_candidate(const struct cm_sites_row *row)
{
	return strncmp(row->reason, "forbidden:", 10) != 0 &&
	       strncmp(row->reason, "size:", 5) != 0 && strncmp(row->reason, "frame:", 6) != 0;
}

static int finish_row(struct cm_sites_object *object, struct cm_sites_row *row)
{
	struct cm_code_entry entry;
	int rc = 0;

	if (row->site.how == CM_SITE_HOW_JUMP) {
		(void)cm_sites_plan_entry(object, row, CM_SITE_JUMP_BYTES, &entry); /* as before */
		rc = cm_sites_check_row(object, row, &entry);
	}
	if (rc || row->site.how != CM_SITE_HOW_REFUSED || !is_candidate(row) ||
	    !may_shorten(object, row))
		return rc < 0 ? rc : 0;
	return cm_sites_shorten(object, row);
}

int cm_sites_plan(struct cm_sites_object *object, struct cm_diag *diag)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < object->n_rows; i++)
		if (!*object->rows[i].reason)
			rc = plan_row(object, &object->rows[i]);
	for (size_t i = 0; rc >= 0 && i < object->n_rows; i++)
		if (is_candidate(&object->rows[i]) && may_shorten(object, &object->rows[i]))
			cm_sites_pads_watch(object, &object->rows[i]);
	if (rc >= 0 && object->n_rows)
		rc = sweep(object, diag);
	for (size_t i = 0; rc >= 0 && i < object->n_rows; i++)
		rc = finish_row(object, &object->rows[i]);
	return rc < 0 ? rc : 0;
}
