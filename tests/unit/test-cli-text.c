/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/text.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

static char *escaped(const char *raw)
{
	char *text = NULL;

	cr_assert_eq(cm_text_escape(raw, &text), 0);
	return text;
}

static char *cut(const char *text, size_t columns)
{
	char *result = NULL;

	cr_assert_eq(cm_text_cut(text, columns, &result), 0);
	return result;
}

static char *wrapped(const char *text, size_t column, size_t hanging, size_t width)
{
	char *result = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&result, &n_bytes);

	cm_text_wrap(out, text, column, hanging, width);
	fclose(out);
	return result;
}

struct escape_row {
	char raw[24];
	char text[48];
};

ParameterizedTestParameters(text, makes_what_could_steer_a_terminal_visible)
{
	static struct escape_row rows[] = {
		{"plain name", "plain name"},
		{"a\x1b[31mb", "a\\x1b[31mb"},
		{"one\ntwo\tthree\r", "one\\ntwo\\tthree\\r"},
		{"\x01\x7f", "\\x01\\x7f"},
		{"c1 \xc2\x9b", "c1 \\x9b"},
		{"\xe2\x80\xae right to left", "\\u202e right to left"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc0\xaf", "\\xc0\\xaf"},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},
		{"cut short \xe4\xb8", "cut short \\xe4\\xb8"},
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
		{"\xf4\x8f\xbf\xbf", "\\u{10ffff}"},
		{"\xe4\xb8\xad\xc3\xa9", "\xe4\xb8\xad\xc3\xa9"},
		{"", ""},
	};

	return cr_make_param_array(struct escape_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct escape_row *row, text, makes_what_could_steer_a_terminal_visible)
{
	char *text = escaped(row->raw);

	cr_expect_str_eq(text, row->text);
	free(text);
}

Test(text, repairs_invalid_bytes_for_json_and_keeps_the_rest)
{
	char *text = NULL;

	cr_assert_eq(cm_text_repair("a\x1b\xff\xc3\xa9", &text), 0);
	cr_expect_str_eq(text, "a\x1b\xef\xbf\xbd\xc3\xa9");
	free(text);
}

Test(text, counts_wide_and_combining_characters)
{
	cr_expect_eq(cm_text_columns("abc"), 3);
	cr_expect_eq(cm_text_columns("\xe4\xb8\xad\xe6\x96\x87"), 4);
	cr_expect_eq(cm_text_columns("e\xcc\x81"), 1);
	cr_expect_eq(cm_text_columns(""), 0);
}

struct cut_row {
	char text[32];
	size_t columns;
	char result[32];
};

ParameterizedTestParameters(text, cuts_in_the_middle_between_characters)
{
	static struct cut_row rows[] = {
		{"abcdefghij", 10, "abcdefghij"},
		{"abcdefghij", 7, "abc\xe2\x80\xa6hij"},
		{"abcdefghij", 6, "abc\xe2\x80\xa6ij"},
		{"abcdefghij", 2, "a\xe2\x80\xa6"},
		{"abcdefghij", 1, "\xe2\x80\xa6"},
		{"abcdefghij", 0, ""},
		/* Four wide characters in five columns: one on each side, one column unused. */
		{"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87", 5,
		 "\xe4\xb8\xad\xe2\x80\xa6\xe6\x96\x87"},
		{"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87", 4, "\xe4\xb8\xad\xe2\x80\xa6"},
		/* The accents stay with their letters. */
		{"e\xcc\x81"
		 "bcd"
		 "e\xcc\x81",
		 3,
		 "e\xcc\x81\xe2\x80\xa6"
		 "e\xcc\x81"},
	};

	return cr_make_param_array(struct cut_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct cut_row *row, text, cuts_in_the_middle_between_characters)
{
	char *result = cut(row->text, row->columns);

	cr_expect_str_eq(result, row->result);
	cr_expect_leq(cm_text_columns(result), row->columns);
	free(result);
}

struct wrap_row {
	char text[40];
	size_t column;
	size_t hanging;
	size_t width;
	char result[64];
};

ParameterizedTestParameters(text, wraps_at_spaces_and_inside_only_what_is_too_long)
{
	static struct wrap_row rows[] = {
		{"one two three", 0, 2, 20, "one two three\n"},
		{"one two three", 0, 2, 8, "one two\n  three\n"},
		{"one  two", 0, 0, 80, "one two\n"},
		{"abcdefghij", 0, 2, 6, "abcdef\n  ghij\n"},
		{"ab abcdefghij", 0, 1, 6, "ab\n abcde\n fghij\n"},
		{"abcdefghij x", 4, 4, 8, "abcd\n    efgh\n    ij x\n"},
		{"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad", 0, 0, 5,
		 "\xe4\xb8\xad\xe6\x96\x87\n\xe4\xb8\xad\n"},
		{"late", 9, 2, 10, "\n  late\n"},
		{"", 3, 2, 10, "\n"},
	};

	return cr_make_param_array(struct wrap_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct wrap_row *row, text, wraps_at_spaces_and_inside_only_what_is_too_long)
{
	char *result = wrapped(row->text, row->column, row->hanging, row->width);

	cr_expect_str_eq(result, row->result);
	free(result);
}
