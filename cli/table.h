/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that fit the terminal.
 *
 *	static const struct cm_table_column columns[] = {
 *		{"region", CM_TABLE_LEFT, .min_columns = 20},
 *		{"calls", CM_TABLE_RIGHT, .priority = 1},
 *	};
 *	cm_table_new(&table, columns, 2);
 *	cm_table_append(table, CM_STYLE_PLAIN, (const char *const[]){"step", "12"});
 *	cm_table_print(table, stdout, &terminal);
 *	cm_table_free(table);
 *
 * The first column is the key. Where all columns do not fit side by side, those of the lowest
 * priority number make the first block and the others follow in further blocks, each with the key
 * again: no column is ever dropped and no line is wider than the terminal. Columns with
 * min_columns may shrink to that; their texts are then cut in the middle (cm_text_cut). With
 * min_title a long title gives way to the cells' width, the cells do not.
 *
 * Cells are escaped (cm_text_escape) when they are appended: names straight from a file are fine.
 * Errors: -ENOMEM. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_TABLE_H
#define CALLMARK_CLI_TABLE_H

#include <stddef.h>
#include <stdio.h>

#include "cli/terminal.h"

enum cm_table_align {
	CM_TABLE_LEFT,
	CM_TABLE_RIGHT,
};

struct cm_table_column {
	const char *title; /* printable */
	enum cm_table_align align;
	unsigned priority;  /* lower ones are in the first block; the key's does not matter */
	size_t min_columns; /* may shrink to this; 0: never shrinks */
	size_t min_title;   /* the title alone may shrink to this; 0: it does not */
};

struct cm_table;

/* The columns are borrowed until free. */
int cm_table_new(struct cm_table **ret_table, const struct cm_table_column *columns,
		 size_t n_columns);

/* One row of n_columns cells, copied. NULL is an empty cell. */
int cm_table_append(struct cm_table *table, enum cm_style style, const char *const *cells);

/* A line across the block. */
int cm_table_append_rule(struct cm_table *table);

/* Rules count. */
size_t cm_table_n_rows(const struct cm_table *table);

int cm_table_print(const struct cm_table *table, FILE *out, const struct cm_terminal *terminal);

/* NULL is allowed. */
void cm_table_free(struct cm_table *table);

#endif
