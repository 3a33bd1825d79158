/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as CSV or JSON. */
#include "cli/export-rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/json-build.h"
#include "cli/text.h"

#define DIGITS 24

/* Hundreds of millions of numbers go through here. */
static void put_unsigned(FILE *out, uint64_t value, bool is_negative)
{
	char digits[DIGITS], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	if (is_negative)
		*--at = '-';
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), out);
}

static char *quote_csv(const char *raw)
{
	char *text, *quoted, *to;

	if (cm_text_repair(raw, &text) < 0 || !text[strcspn(text, ",\"\r\n")])
		return text;
	quoted = calloc(strlen(text) + 2, 2);
	if (quoted) {
		to = quoted;
		*to++ = '"';
		for (raw = text; *raw; raw++) {
			if (*raw == '"')
				*to++ = '"';
			*to++ = *raw;
		}
		*to = '"';
	}
	free(text);
	return quoted;
}

static char *quote_json(const char *raw)
{
	json_t *value = cm_json_text(raw);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;

	json_decref(value);
	return text;
}

char *cm_rows_prepare(const struct cm_rows *rows, const char *raw)
{
	return rows->format == CM_EXPORT_CSV ? quote_csv(raw) : quote_json(raw);
}

void cm_rows_begin(struct cm_rows *rows, FILE *out, enum cm_export_format format,
		   const char *const *names, size_t n_names)
{
	size_t i;

	*rows = (struct cm_rows){.out = out, .format = format, .n_names = n_names};
	rows->names = calloc(n_names + 1, sizeof(*rows->names));
	for (i = 0; rows->names && i < n_names; i++) {
		rows->names[i] = cm_rows_prepare(rows, names[i]);
		if (!rows->names[i])
			break;
	}
	rows->is_bad = !rows->names || i < n_names;
	if (rows->is_bad)
		return;
	for (i = 0; format == CM_EXPORT_CSV && i < n_names; i++)
		fprintf(out, "%s%s", i ? "," : "", rows->names[i]);
	fputs(format == CM_EXPORT_CSV ? "\r\n" : "[", out);
}

/* What stands before a cell: false when nothing can be written any more. */
static bool start_cell(struct cm_rows *rows)
{
	FILE *out = rows->out;

	if (rows->is_bad)
		return false;
	if (rows->format == CM_EXPORT_CSV) {
		if (rows->column)
			putc_unlocked(',', out);
		return true;
	}
	if (rows->has_member)
		putc_unlocked(',', out);
	else
		fputs_unlocked(rows->n_rows ? ",\n{" : "\n{", out);
	rows->has_member = true;
	fputs_unlocked(rows->names[rows->column], out);
	putc_unlocked(':', out);
	return true;
}

static void end_cell(struct cm_rows *rows)
{
	if (++rows->column < rows->n_names)
		return;
	if (rows->format == CM_EXPORT_CSV)
		fputs_unlocked("\r\n", rows->out);
	else
		fputs_unlocked(rows->has_member ? "}" : rows->n_rows ? ",\n{}" : "\n{}", rows->out);
	rows->column = 0;
	rows->has_member = false;
	rows->n_rows++;
}

static void put(struct cm_rows *rows, const char *text)
{
	if (!start_cell(rows))
		return;
	fputs_unlocked(text, rows->out);
	end_cell(rows);
}

void cm_rows_int(struct cm_rows *rows, int64_t value)
{
	if (!start_cell(rows))
		return;
	put_unsigned(rows->out, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
	end_cell(rows);
}

void cm_rows_unsigned(struct cm_rows *rows, uint64_t value)
{
	if (!start_cell(rows))
		return;
	put_unsigned(rows->out, value, false);
	end_cell(rows);
}

void cm_rows_real(struct cm_rows *rows, double value)
{
	char text[CM_FORMAT_BYTES];

	cm_format_exact(text, value);
	if (rows->format == CM_EXPORT_CSV || isfinite(value))
		put(rows, text);
	else if (isnan(value))
		put(rows, "null");
	else
		cm_rows_text(rows, text);
}

void cm_rows_bool(struct cm_rows *rows, bool value)
{
	put(rows, value ? "true" : "false");
}

void cm_rows_prepared(struct cm_rows *rows, const char *text)
{
	if (text)
		put(rows, text);
	else
		rows->is_bad = true;
}

void cm_rows_text(struct cm_rows *rows, const char *raw)
{
	char *text = cm_rows_prepare(rows, raw);

	cm_rows_prepared(rows, text);
	free(text);
}

void cm_rows_texts(struct cm_rows *rows, const char *const *raw, size_t n)
{
	bool is_csv = rows->format == CM_EXPORT_CSV;
	char *all = NULL, *text;
	size_t n_bytes, i;
	FILE *out = open_memstream(&all, &n_bytes);

	if (!out) {
		rows->is_bad = true;
		return;
	}
	for (i = 0; i < n; i++) {
		text = is_csv ? strdup(raw[i]) : quote_json(raw[i]);
		rows->is_bad |= !text;
		fprintf(out, "%s%s", i ? is_csv ? " " : "," : is_csv ? "" : "[", text ? text : "");
		free(text);
	}
	if (!is_csv)
		fputs(n ? "]" : "[]", out);
	if (fclose(out))
		rows->is_bad = true;
	else if (is_csv)
		cm_rows_text(rows, all);
	else
		put(rows, all);
	free(all);
}

void cm_rows_counts(struct cm_rows *rows, const uint64_t *values, size_t n)
{
	bool is_csv = rows->format == CM_EXPORT_CSV;
	size_t i;

	if (!start_cell(rows))
		return;
	if (!is_csv)
		putc_unlocked('[', rows->out);
	for (i = 0; i < n; i++) {
		if (i)
			putc_unlocked(is_csv ? ' ' : ',', rows->out);
		put_unsigned(rows->out, values[i], false);
	}
	if (!is_csv)
		putc_unlocked(']', rows->out);
	end_cell(rows);
}

void cm_rows_unknown(struct cm_rows *rows)
{
	put(rows, rows->format == CM_EXPORT_CSV ? "" : "null");
}

void cm_rows_none(struct cm_rows *rows)
{
	if (rows->format == CM_EXPORT_CSV)
		put(rows, "");
	else if (!rows->is_bad)
		end_cell(rows);
}

int cm_rows_end(struct cm_rows *rows)
{
	bool is_bad = rows->is_bad;
	size_t i;

	if (!is_bad && rows->format == CM_EXPORT_JSON)
		fputs("\n]\n", rows->out);
	for (i = 0; rows->names && i < rows->n_names; i++)
		free(rows->names[i]);
	free(rows->names);
	rows->names = NULL;
	return is_bad ? -ENOMEM : 0;
}
