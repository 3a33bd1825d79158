/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions the rules name.
 *
 * One function may have many symbols: it has one row, named by the best of those that a rule
 * matches, and is left alone if any of its names must be.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sites.h"

static size_t count_underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; of one address the names first that are shown best. */
static int by_address(const void *a, const void *b)
{
	const struct cm_elf_symbol *x = a, *y = b;
	size_t n_x, n_y;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	if (x->is_local != y->is_local)
		return x->is_local ? 1 : -1;
	n_x = count_underscores(x->name);
	n_y = count_underscores(y->name);
	if (n_x != n_y)
		return n_x > n_y ? 1 : -1;
	n_x = (size_t)strcmp(x->name, y->name);
	if (n_x)
		return (int)n_x;
	return !*x->source - !*y->source; /* the same from two tables */
}

/* The names of one address on their way to a row. */
struct group {
	struct cm_sites_object *object;
	const struct cm_rules *rules;
	const struct cm_elf_symbol *symbols;
	size_t n_symbols;
	const struct cm_elf_symbol *best;
	const struct cm_rule *rule;
	const char *base_name;
	const char *source;
	const char *forbidden;
	bool is_excluded;
	bool is_function;
};

/*
 * A global function's source, from DWARF: only where a rule could be about this name in a certain
 * source, because that takes time.
 */
static const char *look_up_source(const struct group *group, const struct cm_rules_query *query)
{
	struct cm_sites_object *object = group->object;
	struct cm_rules_query any = *query;
	const struct cm_rule *rule, *known = NULL;
	const char *file, *slash;
	int line;

	if (!group->rules->has_library)
		return "";
	any.source = NULL;
	if (cm_rules_find(group->rules, &any, &rule) == 1)
		known = rule;
	any.library = NULL; /* matches all prefixes */
	if (cm_rules_find(group->rules, &any, &rule) != 1 || rule == known || !rule->library ||
	    strstr(rule->library, ".so"))
		return "";
	if (!object->has_names) {
		object->has_names = true;
		(void)cm_elf_names_open(&object->names, object->path, "", true); /* or none */
	}
	if (!object->names ||
	    !cm_elf_names_line(object->names, group->symbols->address, true, &file, &line))
		return "";
	slash = strrchr(file, '/');
	return slash ? slash + 1 : file;
}

static int try_symbol(struct group *group, const struct cm_elf_symbol *symbol)
{
	struct cm_arena *arena = &group->object->arena;
	const char *base_name = cm_sites_base_name(arena, symbol->name);
	struct cm_rules_query query = {.symbol = base_name,
				       .library = group->object->name,
				       .is_entry = true,
				       .source = symbol->source};
	const struct cm_rule *rule;
	const char *demangled = "", *source;
	int rc;

	if (!base_name)
		return -ENOMEM;
	group->is_function = true;
	if (symbol->type == STT_GNU_IFUNC)
		group->forbidden = "the loader calls it to choose an implementation";
	else if (!group->forbidden)
		group->forbidden = cm_sites_forbidden(base_name);
	if (group->rules->has_demangled)
		demangled = cm_sites_demangle(arena, base_name);
	if (!demangled)
		return -ENOMEM;
	query.demangled = *demangled ? demangled : NULL;
	if (!*query.source)
		query.source = look_up_source(group, &query);
	source = query.source;
	if (!*query.source)
		query.source = NULL;
	rc = cm_rules_find(group->rules, &query, &rule);
	group->is_excluded |= rc == -ECANCELED;
	if (rc == 1 && rule->internal && (!group->rule || rule->index < group->rule->index)) {
		group->best = symbol;
		group->rule = rule;
		group->base_name = base_name;
		group->source = source;
	}
	return 0;
}

/* 0 where nothing tells. What the unwind tables say is smaller where a symbol covers more. */
static uint64_t find_size(const struct group *group)
{
	const struct cm_elf_frame *frame =
		cm_elf_frames_find(&group->object->frames, group->best->address);
	const struct cm_code_part *text =
		cm_elf_code_text(&group->object->code, group->best->address);
	uint64_t size = group->best->size;

	for (size_t i = 0; !size && i < group->n_symbols; i++)
		size = group->symbols[i].size;
	if (frame && (!size || frame->end - frame->begin < size))
		size = frame->end - frame->begin;
	return size < text->end - group->best->address ? size : text->end - group->best->address;
}

/* Of a name that several tables have, one may tell the source. */
static const char *find_source(const struct group *group)
{
	for (size_t i = 0; i < group->n_symbols; i++)
		if (*group->symbols[i].source)
			return group->symbols[i].source;
	return "";
}

static int add_row(struct group *group)
{
	struct cm_sites_object *object = group->object;
	struct cm_sites_row *row = &object->rows[object->n_rows];

	memset(row, 0, sizeof(*row));
	row->site.offset = row->site.place = group->best->address;
	row->site.size = find_size(group);
	row->site.rule = group->rule->index;
	row->rule = group->rule;
	row->symbol = group->best->name;
	row->base_name = cm_sites_region_name(&object->arena, group->best->name, group->base_name);
	row->source = *group->source ? group->source : find_source(group);
	row->demangled = row->base_name ? cm_sites_demangle(&object->arena, row->base_name) : NULL;
	row->first_alias = (size_t)(group->symbols - object->symbols.symbols);
	row->n_aliases = group->n_symbols;
	row->reason = "";
	if (!row->demangled)
		return -ENOMEM;
	object->n_rows++;
	if (group->forbidden)
		return cm_sites_refuse(object, row, "forbidden: %s", group->forbidden);
	if (cm_sites_is_ours(cm_elf_soname(object->elf)))
		return cm_sites_refuse(object, row,
				       "forbidden: callmark itself runs on this library");
	if (object->is_go)
		return cm_sites_refuse(
			object, row,
			"forbidden: Go's runtime moves its stacks and must know every "
			"frame there");
	if (!row->site.size)
		return cm_sites_refuse(object, row,
				       "size: no symbol or unwind table tells its end");
	/* Interpreters' handlers look for their caller's frame where ours would be (V8). */
	if (object->has_tables && !row->rule->is_literal &&
	    !cm_elf_frames_cover(&object->frames, row->site.offset))
		return cm_sites_refuse(object, row,
				       "frame: assembly without an unwind table, whose frames are "
				       "not known; a rule with its full name takes it");
	return 0;
}

static int match_group(struct group *group)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < group->n_symbols; i++) {
		const struct cm_elf_symbol *symbol = &group->symbols[i];

		if (symbol->type != STT_NOTYPE && !cm_sites_is_cold(symbol->name))
			rc = try_symbol(group, symbol);
	}
	group->object->n_functions += group->is_function;
	if (rc < 0 || !group->rule || group->is_excluded)
		return rc;
	return add_row(group);
}

static void mark_starts(struct cm_sites_object *object)
{
	struct cm_code_map *map = &object->map;

	for (size_t i = 0; i < object->symbols.n_symbols; i++)
		cm_code_map_set(map->starts, map, object->symbols.symbols[i].address);
	for (size_t i = 0; i < object->frames.n_frames; i++)
		cm_code_map_set(map->starts, map, object->frames.frames[i].begin);
	for (size_t i = 0; i < object->n_pads; i++)
		cm_code_map_set(map->starts, map, object->pads[i]);
}

/* Compilers write unwind tables for all they make, or for nothing. */
static bool has_tables(const struct cm_sites_object *object)
{
	size_t n = 0, n_covered = 0;

	for (size_t i = 0; i < object->symbols.n_symbols; i++) {
		const struct cm_elf_symbol *symbol = &object->symbols.symbols[i];

		if (symbol->type == STT_NOTYPE || !symbol->size)
			continue;
		n++;
		n_covered += cm_elf_frames_cover(&object->frames, symbol->address);
	}
	return n_covered > n / 2;
}

int cm_sites_match(struct cm_sites_object *object, const struct cm_rules *rules,
		   struct cm_diag *diag)
{
	struct cm_elf_symbols *symbols = &object->symbols;
	size_t next;
	int rc;

	if (!symbols->n_symbols)
		return 0;
	qsort(symbols->symbols, symbols->n_symbols, sizeof(symbols->symbols[0]), by_address);
	rc = cm_code_map_init(&object->map, object->code.begin, object->code.end);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: its code spans more than 2 GiB", object->path);
	mark_starts(object);
	object->has_tables = has_tables(object);
	object->rows = calloc(symbols->n_symbols, sizeof(object->rows[0]));
	if (!object->rows)
		return -ENOMEM;
	for (size_t i = 0; rc >= 0 && i < symbols->n_symbols; i = next) {
		struct group group = {object, rules, &symbols->symbols[i]};

		for (next = i + 1; next < symbols->n_symbols &&
				   symbols->symbols[next].address == symbols->symbols[i].address;)
			next++;
		group.n_symbols = next - i;
		rc = match_group(&group);
	}
	return rc;
}
