/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be intercepted, as tables. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/symbols-print.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

static const struct cm_table_column columns[] = {
	{"function", CM_TABLE_LEFT, 0, 24},
	{"slot", CM_TABLE_LEFT, 0, 0},
	{"defined in", CM_TABLE_LEFT, 0, 12},
	{"rule, or why not", CM_TABLE_LEFT, 0, 18},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const char *slot_kind(unsigned means)
{
	switch (means & (CM_IMPORT_JUMP_SLOT | CM_IMPORT_GLOB_DAT)) {
	case CM_IMPORT_JUMP_SLOT:
		return "jump_slot";
	case CM_IMPORT_GLOB_DAT:
		return "glob_dat";
	case CM_IMPORT_JUMP_SLOT | CM_IMPORT_GLOB_DAT:
		return "both";
	default:
		return "-";
	}
}

/* A line that may hold names from files. */
static int print_line(const struct cm_terminal *terminal, const char *raw)
{
	char *text;
	int rc = cm_text_escape(raw, &text);

	if (rc < 0)
		return rc;
	cm_text_wrap(stdout, text, 0, 2, terminal->n_columns);
	free(text);
	return 0;
}

static int append_row(struct cm_table *table, const struct cm_symbol_row *row)
{
	const char *name = row->demangled ? row->demangled : row->import->symbol;
	const char *last = row->rule ? row->rule->text : row->reason;
	const char *const cells[N_COLUMNS] = {name, slot_kind(row->import->means), row->library,
					      last};
	enum cm_style style = row->rule	    ? CM_STYLE_BOLD
			      : row->reason ? CM_STYLE_DIM
					    : CM_STYLE_PLAIN;

	return cm_table_append(table, style, cells);
}

/* Is there a slot that is left alone where the function's entry is intercepted? */
static bool has_internal(const struct cm_symbol_object *object)
{
	for (size_t i = 0; i < object->n_rows; i++)
		if (object->rows[i].rule && object->rows[i].rule->internal)
			return true;
	return false;
}

static int print_object(const struct cm_symbol_object *object, const struct cm_terminal *terminal,
			const struct cm_rule_set *set)
{
	size_t n_not = object->n_rows - object->n_possible;
	struct cm_table *table;
	char *summary;
	int rc = cm_table_new(&table, columns, N_COLUMNS);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc >= 0 && i < object->n_rows; i++)
		rc = append_row(table, &object->rows[i]);
	if (rc >= 0 && object->n_rows)
		rc = cm_table_print(table, stdout, terminal);
	cm_table_free(table);
	if (rc < 0)
		return rc;
	if (asprintf(&summary, "%s: %zu function%s can be intercepted, %zu slot%s cannot",
		     object->item->path, object->n_possible, object->n_possible == 1 ? "" : "s",
		     n_not, n_not == 1 ? "" : "s") < 0)
		return -ENOMEM;
	rc = print_line(terminal, summary);
	free(summary);
	if (set)
		printf("  rules match %zu of them\n", object->n_matched);
	if (has_internal(object))
		puts("  those with internal=yes only where the function itself cannot be had");
	if (rc >= 0 && object->entries)
		rc = cm_symbols_print_entries(object, terminal);
	return rc;
}

static int print_unmatched(const struct cm_symbols *list, const struct cm_terminal *terminal,
			   const struct cm_rule_set *set)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < set->rules.n_rules; i++) {
		const struct cm_rule *rule = &set->rules.rules[i];
		char *text;

		if (rule->exclude || list->is_matched[i])
			continue;
		if (asprintf(&text, "rule matches nothing here: %s", rule->text) < 0)
			return -ENOMEM;
		rc = print_line(terminal, text);
		free(text);
	}
	return rc;
}

int cm_symbols_print_tables(const struct cm_symbols *list, const struct cm_closure *closure,
			    const struct cm_rule_set *set)
{
	struct cm_terminal terminal;
	int rc = 0;

	cm_terminal_init(&terminal, stdout);
	for (size_t i = 0; rc >= 0 && i < list->n_objects; i++) {
		if (i)
			putchar('\n');
		rc = print_object(&list->objects[i], &terminal, set);
	}
	for (size_t i = 0; rc >= 0 && i < closure->n_items; i++) {
		char *text;

		if (closure->items[i].elf)
			continue;
		if (asprintf(&text, "library not found: %s", closure->items[i].name) < 0)
			return -ENOMEM;
		rc = print_line(&terminal, text);
		free(text);
	}
	return rc < 0 || !set ? rc : print_unmatched(list, &terminal, set);
}
