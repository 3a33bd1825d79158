/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of an object by entry, as a table. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/symbols-entries.h"
#include "cli/symbols-print.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

#define MAX_REASONS 16 /* kinds of them: their first words */

static const struct cm_table_column columns[] = {
	{"function inside", CM_TABLE_LEFT, 0, 16},
	{"source", CM_TABLE_LEFT, 0, 8},
	{"address", CM_TABLE_RIGHT, 0, 0},
	{"size", CM_TABLE_RIGHT, 0, 0},
	{"how", CM_TABLE_LEFT, 0, 0},
	{"rule, or why not", CM_TABLE_LEFT, 0, 22},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int append_row(struct cm_table *table, const struct cm_symbol_entry *row)
{
	const char *how = cm_symbol_entries_how(row->function->how);
	char address[24], size[24];
	const char *const cells[N_COLUMNS] = {row->name,       row->source,
					      address,	       size,
					      how ? how : "-", how ? row->rule->text : row->reason};

	snprintf(address, sizeof(address), "0x%" PRIx64, row->function->offset);
	snprintf(size, sizeof(size), "%" PRIu64, row->function->size);
	return cm_table_append(table, how ? CM_STYLE_BOLD : CM_STYLE_DIM, cells);
}

/* Of "short: 3 bytes" the word before ':' says what kind of reason it is. */
struct reason {
	const char *text;
	size_t n_bytes;
	size_t n_functions;
};

static size_t count_reasons(const struct cm_symbol_entries *entries,
			    struct reason reasons[MAX_REASONS])
{
	size_t n = 0;

	for (size_t i = 0; i < entries->n_rows; i++) {
		const char *text = entries->rows[i].reason;
		size_t n_bytes = strcspn(text, ":"), k = 0;

		if (entries->rows[i].function->how != CM_SITE_HOW_REFUSED)
			continue;
		while (k < n && (reasons[k].n_bytes != n_bytes ||
				 strncmp(reasons[k].text, text, n_bytes) != 0))
			k++;
		if (k == MAX_REASONS)
			continue;
		if (k == n)
			reasons[n++] = (struct reason){text, n_bytes, 0};
		reasons[k].n_functions++;
	}
	return n;
}

static int compare_reasons(const void *a, const void *b)
{
	const struct reason *one = a, *two = b;

	if (one->n_functions != two->n_functions)
		return one->n_functions < two->n_functions ? 1 : -1;
	return strcmp(one->text, two->text);
}

/* " (3 jump, 1 trap)"; nothing where there are none. */
static void write_hows(FILE *out, const struct cm_symbol_entries *entries)
{
	const char *between = " (";

	for (unsigned int how = CM_SITE_HOW_JUMP; how <= CM_SITE_HOW_TRAP; how++) {
		if (!entries->n_how[how])
			continue;
		fprintf(out, "%s%zu %s", between, entries->n_how[how], cm_symbol_entries_how(how));
		between = ", ";
	}
	if (between[0] == ',')
		fputc(')', out);
}

static void write_reasons(FILE *out, const struct cm_symbol_entries *entries)
{
	struct reason reasons[MAX_REASONS];
	size_t n = count_reasons(entries, reasons);

	qsort(reasons, n, sizeof(reasons[0]), compare_reasons);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%zu %.*s", i ? ", " : " (", reasons[i].n_functions,
			(int)reasons[i].n_bytes, reasons[i].text);
	if (n)
		fputc(')', out);
}

static int write_summary(const struct cm_symbol_object *object, char **ret_text)
{
	const struct cm_symbol_entries *entries = object->entries;
	const char *debug_file = cm_site_string(entries->file, entries->file->debug_file);
	size_t n_refused = entries->n_how[CM_SITE_HOW_REFUSED];
	size_t n = entries->n_rows - n_refused;
	size_t n_bytes;
	FILE *out = open_memstream(ret_text, &n_bytes);

	if (!out)
		return -ENOMEM;
	fprintf(out, "%s: of %" PRIu64 " function%s inside, rules with internal=yes can have %zu",
		object->item->path, entries->file->n_symbols,
		entries->file->n_symbols == 1 ? "" : "s", n);
	write_hows(out, entries);
	fprintf(out, " and cannot have %zu", n_refused);
	write_reasons(out, entries);
	if (debug_file[0])
		fprintf(out, "; names from %s", debug_file);
	return fclose(out) ? -ENOMEM : 0;
}

int cm_symbols_print_entries(const struct cm_symbol_object *object,
			     const struct cm_terminal *terminal)
{
	const struct cm_symbol_entries *entries = object->entries;
	struct cm_table *table;
	char *raw, *text;
	int rc = cm_table_new(&table, columns, N_COLUMNS);

	if (rc < 0)
		return rc;
	for (size_t i = 0; rc >= 0 && i < entries->n_rows; i++)
		rc = append_row(table, &entries->rows[i]);
	putchar('\n');
	if (rc >= 0 && entries->n_rows)
		rc = cm_table_print(table, stdout, terminal);
	cm_table_free(table);
	if (rc < 0)
		return rc;
	rc = write_summary(object, &raw);
	if (rc < 0)
		return rc;
	rc = cm_text_escape(raw, &text);
	free(raw);
	if (rc < 0)
		return rc;
	cm_text_wrap(stdout, text, 0, 2, terminal->n_columns);
	free(text);
	return 0;
}
