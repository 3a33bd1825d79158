/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table written row by row, as CSV or JSON.
 *
 *	cm_rows_begin(&rows, out, CM_EXPORT_CSV, names, n_names);
 *	cm_rows_text(&rows, tag); cm_rows_int(&rows, 12); ...      n_names of them are a row
 *	rc = cm_rows_end(&rows);
 *
 * CSV is that of RFC 4180: a line of names, CRLF, quotes where a cell has a comma, a quote or a
 * line break. JSON is one array with an object a row, one row a line, ASCII. Both: UTF-8 with
 * U+FFFD for invalid bytes; reals of up to 17 digits that read back as the same double.
 * Errors: memory, which end() reports; write errors are left to the stream.
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_EXPORT_ROWS_H
#define CALLMARK_CLI_EXPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum cm_export_format {
	CM_EXPORT_CSV,
	CM_EXPORT_JSON,
};

struct cm_rows {
	FILE *out;
	enum cm_export_format format;
	char **names; /* ready to print */
	size_t n_names;
	size_t column; /* the next one */
	bool has_member;
	uint64_t n_rows;
	bool is_bad;
};

/* The names are copied. */
void cm_rows_begin(struct cm_rows *rows, FILE *out, enum cm_export_format format,
		   const char *const *names, size_t n_names);

void cm_rows_int(struct cm_rows *rows, int64_t value);
void cm_rows_unsigned(struct cm_rows *rows, uint64_t value);
/* NaN is nan or null; infinities are inf and -inf, in JSON as strings. */
void cm_rows_real(struct cm_rows *rows, double value);
void cm_rows_bool(struct cm_rows *rows, bool value);
void cm_rows_text(struct cm_rows *rows, const char *raw);
/* Several texts or numbers: in CSV one cell with spaces between them, in JSON an array. */
void cm_rows_texts(struct cm_rows *rows, const char *const *raw, size_t n);
void cm_rows_counts(struct cm_rows *rows, const uint64_t *values, size_t n);
/* Not known: an empty cell, null. */
void cm_rows_unknown(struct cm_rows *rows);
/* The row has no such thing: an empty cell, no member. */
void cm_rows_none(struct cm_rows *rows);

/* A text that many rows have: formatted once, the caller's to free; NULL without memory. */
char *cm_rows_prepare(const struct cm_rows *rows, const char *raw);
void cm_rows_prepared(struct cm_rows *rows, const char *text);

/* -ENOMEM when anything before failed. The rows' memory is given back. */
int cm_rows_end(struct cm_rows *rows);

#endif
