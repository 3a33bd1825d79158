/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables that fit the terminal: column blocks, fair shrinking, aligned output. */
#include "cli/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define GAP 2

struct row {
	enum cm_style style;
	char **cells; /* NULL: a rule */
};

struct cm_table {
	const struct cm_table_column *columns;
	size_t n_columns;
	size_t *titles; /* by column: how wide its title is */
	size_t *cells;	/* by column: how wide the widest cell is */
	struct row *rows;
	size_t n_rows;
	size_t n_room;
};

/* The columns that one block shows, in order, and how wide. width 0: not in this block. */
struct block {
	size_t *width;
	size_t n_used;
	size_t n_terminal;
};

int cm_table_new(struct cm_table **ret_table, const struct cm_table_column *columns,
		 size_t n_columns)
{
	struct cm_table *table = calloc(1, sizeof(*table));
	size_t i;

	if (!table)
		return -ENOMEM;
	table->columns = columns;
	table->n_columns = n_columns;
	table->titles = calloc(n_columns, sizeof(*table->titles));
	table->cells = calloc(n_columns, sizeof(*table->cells));
	if (!table->titles || !table->cells) {
		cm_table_free(table);
		return -ENOMEM;
	}
	for (i = 0; i < n_columns; i++) {
		table->titles[i] = cm_text_columns(columns[i].title);
		table->cells[i] = 1;
	}
	*ret_table = table;
	return 0;
}

static void free_cells(char **cells, size_t n)
{
	size_t i;

	for (i = 0; cells && i < n; i++)
		free(cells[i]);
	free(cells);
}

void cm_table_free(struct cm_table *table)
{
	size_t i;

	if (!table)
		return;
	for (i = 0; i < table->n_rows; i++)
		free_cells(table->rows[i].cells, table->n_columns);
	free(table->rows);
	free(table->titles);
	free(table->cells);
	free(table);
}

static int grow(struct cm_table *table)
{
	size_t n_room = table->n_room ? table->n_room * 2 : 16;
	struct row *rows;

	if (table->n_rows < table->n_room)
		return 0;
	rows = reallocarray(table->rows, n_room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	table->n_room = n_room;
	return 0;
}

int cm_table_append(struct cm_table *table, enum cm_style style, const char *const *cells)
{
	char **copies = calloc(table->n_columns, sizeof(*copies));
	size_t i, n;

	if (!copies || grow(table) < 0)
		goto out;
	for (i = 0; i < table->n_columns; i++)
		if (cm_text_escape(cells[i] ? cells[i] : "", &copies[i]) < 0)
			goto out;
	for (i = 0; i < table->n_columns; i++) {
		n = cm_text_columns(copies[i]);
		if (n > table->cells[i])
			table->cells[i] = n;
	}
	table->rows[table->n_rows++] = (struct row){style, copies};
	return 0;
out:
	free_cells(copies, table->n_columns);
	return -ENOMEM;
}

int cm_table_append_rule(struct cm_table *table)
{
	if (grow(table) < 0)
		return -ENOMEM;
	table->rows[table->n_rows++] = (struct row){.style = CM_STYLE_DIM};
	return 0;
}

size_t cm_table_n_rows(const struct cm_table *table)
{
	return table->n_rows;
}

static size_t widest(const struct cm_table *table, size_t column)
{
	size_t title = table->titles[column], cells = table->cells[column];

	return title > cells ? title : cells;
}

/* The narrowest that a column can be without losing digits. */
static size_t least(const struct cm_table *table, size_t column)
{
	const struct cm_table_column *shape = &table->columns[column];
	size_t title = table->titles[column], cells = table->cells[column];

	if (shape->min_columns && shape->min_columns < widest(table, column))
		return shape->min_columns;
	if (shape->min_title && shape->min_title < title)
		title = shape->min_title;
	return title > cells ? title : cells;
}

/* The column of the lowest priority number that is in no block yet; 0 when there is none. */
static size_t next_column(const struct cm_table *table, const bool *is_done)
{
	size_t i, best = 0;

	for (i = 1; i < table->n_columns; i++)
		if (!is_done[i] &&
		    (!best || table->columns[i].priority < table->columns[best].priority))
			best = i;
	return best;
}

/* Give what is left of the line to the columns that were shrunk, the narrowest first. */
static void widen(const struct cm_table *table, struct block *block, size_t used)
{
	size_t i, narrowest;

	for (; used < block->n_terminal; used++) {
		narrowest = table->n_columns;
		for (i = 0; i < table->n_columns; i++)
			if (block->width[i] && block->width[i] < widest(table, i) &&
			    (narrowest == table->n_columns ||
			     block->width[i] < block->width[narrowest]))
				narrowest = i;
		if (narrowest == table->n_columns)
			break;
		block->width[narrowest]++;
	}
	block->n_used = used;
}

/* Choose the columns of the next block; a block has at least one beside the key. */
static void plan(const struct cm_table *table, struct block *block, bool *is_done)
{
	size_t used = least(table, 0), column, room;

	memset(block->width, 0, table->n_columns * sizeof(*block->width));
	block->width[0] = used;
	while ((column = next_column(table, is_done))) {
		if (used + GAP + least(table, column) > block->n_terminal &&
		    used != block->width[0])
			break;
		is_done[column] = true;
		block->width[column] = least(table, column);
		used += GAP + block->width[column];
		if (used <= block->n_terminal)
			continue;
		/* Alone and still too wide: the key gives way down to a third, then the column. */
		room = block->n_terminal - GAP;
		if (block->width[0] > room / 3)
			block->width[0] = room / 3;
		if (block->width[column] > room - block->width[0])
			block->width[column] = room - block->width[0];
		used = GAP + block->width[0] + block->width[column];
	}
	if (used > block->n_terminal)
		used = block->width[0] = block->n_terminal;
	widen(table, block, used);
}

static void print_rule(const struct block *block, FILE *out)
{
	size_t i;

	for (i = 0; i < block->n_used; i++)
		fputc('-', out);
}

/* No trailing spaces: what pads a cell is written when the next text comes. */
static int print_line(const struct cm_table *table, const struct block *block, FILE *out,
		      char *const *cells)
{
	size_t i, pending = 0, padding;
	bool is_right;
	char *text;

	for (i = 0; i < table->n_columns; i++) {
		if (!block->width[i])
			continue;
		if (cm_text_cut(cells ? cells[i] : table->columns[i].title, block->width[i],
				&text) < 0)
			return -ENOMEM;
		is_right = table->columns[i].align == CM_TABLE_RIGHT;
		padding = block->width[i] - cm_text_columns(text);
		pending += is_right ? padding : 0;
		if (*text) {
			fprintf(out, "%*s%s", (int)pending, "", text);
			pending = 0;
		}
		pending += (is_right ? 0 : padding) + GAP;
		free(text);
	}
	return 0;
}

static int print_block(const struct cm_table *table, const struct block *block, FILE *out,
		       const struct cm_terminal *terminal)
{
	size_t i;
	int rc;

	fputs(cm_terminal_style(terminal, CM_STYLE_BOLD), out);
	rc = print_line(table, block, out, NULL);
	fprintf(out, "%s\n", cm_terminal_style(terminal, CM_STYLE_PLAIN));
	for (i = 0; rc >= 0 && i < table->n_rows; i++) {
		enum cm_style style = table->rows[i].style;

		if (style != CM_STYLE_PLAIN)
			fputs(cm_terminal_style(terminal, style), out);
		if (table->rows[i].cells)
			rc = print_line(table, block, out, table->rows[i].cells);
		else
			print_rule(block, out);
		if (style != CM_STYLE_PLAIN)
			fputs(cm_terminal_style(terminal, CM_STYLE_PLAIN), out);
		fputc('\n', out);
	}
	return rc;
}

int cm_table_print(const struct cm_table *table, FILE *out, const struct cm_terminal *terminal)
{
	struct block block = {.n_terminal = terminal->n_columns};
	bool *is_done = calloc(table->n_columns, sizeof(*is_done));
	bool is_first = true;
	int rc = -ENOMEM;

	block.width = calloc(table->n_columns, sizeof(*block.width));
	if (!is_done || !block.width)
		goto out;
	rc = 0;
	while (rc >= 0 && (is_first || next_column(table, is_done))) {
		if (!is_first)
			fputc('\n', out);
		plan(table, &block, is_done);
		rc = print_block(table, &block, out, terminal);
		is_first = false;
	}
out:
	free(block.width);
	free(is_done);
	return rc;
}
