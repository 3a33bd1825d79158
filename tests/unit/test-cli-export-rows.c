/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/export-rows.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const char *const names[] = {"plain", "a \"b\", c"};
static char *text;
static size_t n_bytes;
static struct cm_rows rows;

static void begin(enum cm_export_format format)
{
	FILE *out = open_memstream(&text, &n_bytes);

	cr_assert_not_null(out);
	cm_rows_begin(&rows, out, format, names, 2);
}

static void expect(const char *expected)
{
	FILE *out = rows.out;

	cr_expect_eq(cm_rows_end(&rows), 0);
	fclose(out);
	cr_expect_str_eq(text, expected);
	free(text);
}

Test(export_rows, quotes_csv_where_rfc_4180_wants_it)
{
	begin(CM_EXPORT_CSV);
	cm_rows_text(&rows, "x y;z");
	cm_rows_text(&rows, "a,b");
	cm_rows_text(&rows, "say \"hi\"");
	cm_rows_text(&rows, "two\nlines");
	cm_rows_text(&rows, "\"");
	cm_rows_text(&rows, "\xff\xe4\xb8\xad\r");
	expect("plain,\"a \"\"b\"\", c\"\r\n"
	       "x y;z,\"a,b\"\r\n"
	       "\"say \"\"hi\"\"\",\"two\nlines\"\r\n"
	       "\"\"\"\",\"\xef\xbf\xbd\xe4\xb8\xad\r\"\r\n");
}

Test(export_rows, writes_json_objects_one_a_line)
{
	begin(CM_EXPORT_JSON);
	cm_rows_text(&rows, "two\nlines\xff");
	cm_rows_int(&rows, -12);
	cm_rows_none(&rows);
	cm_rows_unknown(&rows);
	cm_rows_none(&rows);
	cm_rows_none(&rows);
	expect("[\n{\"plain\":\"two\\nlines\\uFFFD\",\"a \\\"b\\\", c\":-12},\n"
	       "{\"a \\\"b\\\", c\":null},\n{}\n]\n");
}

Test(export_rows, is_valid_without_rows)
{
	begin(CM_EXPORT_CSV);
	expect("plain,\"a \"\"b\"\", c\"\r\n");
	begin(CM_EXPORT_JSON);
	expect("[\n]\n");
}

Test(export_rows, writes_every_integer)
{
	begin(CM_EXPORT_CSV);
	cm_rows_int(&rows, INT64_MIN);
	cm_rows_int(&rows, INT64_MAX);
	cm_rows_unsigned(&rows, UINT64_MAX);
	cm_rows_unsigned(&rows, 0);
	expect("plain,\"a \"\"b\"\", c\"\r\n-9223372036854775808,9223372036854775807\r\n"
	       "18446744073709551615,0\r\n");
}

Test(export_rows, tells_nan_from_what_is_not_there)
{
	begin(CM_EXPORT_CSV);
	cm_rows_real(&rows, NAN);
	cm_rows_none(&rows);
	cm_rows_real(&rows, -INFINITY);
	cm_rows_bool(&rows, true);
	expect("plain,\"a \"\"b\"\", c\"\r\nnan,\r\n-inf,true\r\n");
	begin(CM_EXPORT_JSON);
	cm_rows_real(&rows, -NAN);
	cm_rows_none(&rows);
	cm_rows_real(&rows, -INFINITY);
	cm_rows_bool(&rows, false);
	expect("[\n{\"plain\":null},\n{\"plain\":\"-inf\",\"a \\\"b\\\", c\":false}\n]\n");
}

Test(export_rows, joins_lists_in_csv_and_nests_them_in_json)
{
	static const char *const texts[] = {"a", "b,c"};
	static const uint64_t counts[] = {1, 0, 30};

	begin(CM_EXPORT_CSV);
	cm_rows_texts(&rows, texts, 2);
	cm_rows_counts(&rows, counts, 3);
	expect("plain,\"a \"\"b\"\", c\"\r\n\"a b,c\",1 0 30\r\n");
	begin(CM_EXPORT_JSON);
	cm_rows_texts(&rows, texts, 2);
	cm_rows_counts(&rows, counts, 3);
	cm_rows_texts(&rows, texts, 0);
	cm_rows_counts(&rows, counts, 0);
	expect("[\n{\"plain\":[\"a\",\"b,c\"],\"a \\\"b\\\", c\":[1,0,30]},\n"
	       "{\"plain\":[],\"a \\\"b\\\", c\":[]}\n]\n");
}
