/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/table.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"

static const struct cm_table_column columns[] = {
	{"region", CM_TABLE_LEFT, .min_columns = 12},
	{"calls", CM_TABLE_RIGHT, .priority = 1},
	{"total", CM_TABLE_RIGHT, .priority = 3},
	{"share", CM_TABLE_RIGHT, .priority = 2},
};

static const char *const rows[][4] = {
	{"fib", "3,524,578", "1.23 s", "45.3%"},
	{"a_name_that_is_quite_long", "1", "999 ns", "<0.1%"},
	{"none", NULL, "", "-"},
};

static char *printed(size_t n_columns_of_terminal, bool has_colours)
{
	struct cm_terminal terminal = {.n_columns = n_columns_of_terminal,
				       .has_colours = has_colours};
	struct cm_table *table = NULL;
	char *text = NULL;
	size_t n_bytes, i;
	FILE *out = open_memstream(&text, &n_bytes);

	cr_assert_eq(cm_table_new(&table, columns, 4), 0);
	for (i = 0; i < 3; i++)
		cr_assert_eq(
			cm_table_append(table, i == 1 ? CM_STYLE_WARNING : CM_STYLE_PLAIN, rows[i]),
			0);
	cr_expect_eq(cm_table_n_rows(table), 3);
	cr_assert_eq(cm_table_print(table, out, &terminal), 0);
	fclose(out);
	cm_table_free(table);
	return text;
}

Test(table, aligns_all_columns_side_by_side_where_they_fit)
{
	char *text = printed(80, false);

	cr_expect_str_eq(text, "region                         calls   total  share\n"
			       "fib                        3,524,578  1.23 s  45.3%\n"
			       "a_name_that_is_quite_long          1  999 ns  <0.1%\n"
			       "none                                              -\n");
	free(text);
}

Test(table, shrinks_the_name_before_anything_else)
{
	char *text = printed(42, false);

	cr_expect_str_eq(text, "region                calls   total  share\n"
			       "fib               3,524,578  1.23 s  45.3%\n"
			       "a_name_t\xe2\x80\xa6te_long          1  999 ns  <0.1%\n"
			       "none                                     -\n");
	free(text);
}

Test(table, puts_what_does_not_fit_into_a_second_block_by_priority)
{
	char *text = printed(34, false);

	cr_expect_str_eq(text, "region                calls  share\n"
			       "fib               3,524,578  45.3%\n"
			       "a_name_t\xe2\x80\xa6te_long          1  <0.1%\n"
			       "none                             -\n"
			       "\n"
			       "region                      total\n"
			       "fib                        1.23 s\n"
			       "a_name_that_is_quite_long  999 ns\n"
			       "none\n");
	free(text);
}

Test(table, never_writes_beyond_the_terminal_and_drops_no_number)
{
	static const char *const numbers[] = {"3,524,578", "1.23 s", "45.3%", "999 ns", "<0.1%"};
	char *text, *line, *rest;
	size_t width, i;

	for (width = 25; width < 70; width++) {
		text = printed(width, false);
		for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			cr_expect(strstr(text, numbers[i]), "%s at %zu columns", numbers[i], width);
		for (rest = text; (line = strsep(&rest, "\n"));)
			cr_expect_leq(cm_text_columns(line), width);
		free(text);
	}
}

Test(table, cuts_even_numbers_rather_than_overflow)
{
	char *text, *line, *rest;
	size_t width;

	for (width = 3; width < 25; width++) {
		text = printed(width, false);
		for (rest = text; (line = strsep(&rest, "\n"));)
			cr_expect_leq(cm_text_columns(line), width);
		free(text);
	}
}

Test(table, colours_only_where_the_terminal_has_them)
{
	char *plain = printed(80, false), *coloured = printed(80, true);

	cr_expect_null(strchr(plain, '\x1b'));
	cr_expect(strstr(coloured, "\x1b[33ma_name"));
	cr_expect(strstr(coloured, "\x1b[1mregion"));
	free(plain);
	free(coloured);
}

Test(table, never_lets_a_name_steer_the_terminal)
{
	struct cm_terminal terminal = {.n_columns = 80};
	struct cm_table *table = NULL;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	cr_assert_eq(cm_table_new(&table, columns, 1), 0);
	cr_assert_eq(cm_table_append(table, CM_STYLE_PLAIN,
				     (const char *const[]){"\x1b]0;title\x07\nnext"}),
		     0);
	cr_assert_eq(cm_table_print(table, out, &terminal), 0);
	fclose(out);
	cr_expect_str_eq(text, "region\n\\x1b]0;title\\a\\nnext\n");
	cm_table_free(table);
	free(text);
}

Test(table, takes_the_width_from_the_environment_or_80)
{
	struct cm_terminal terminal;
	FILE *out = tmpfile();

	unsetenv("COLUMNS");
	cm_terminal_init(&terminal, out);
	cr_expect_eq(terminal.n_columns, 80);
	cr_expect_not(terminal.is_terminal);
	cr_expect_not(terminal.has_colours);
	setenv("COLUMNS", "132", 1);
	cm_terminal_init(&terminal, out);
	cr_expect_eq(terminal.n_columns, 132);
	setenv("COLUMNS", "5", 1);
	cm_terminal_init(&terminal, out);
	cr_expect_eq(terminal.n_columns, CM_TERMINAL_MIN_COLUMNS);
	setenv("COLUMNS", "99999999999", 1);
	cm_terminal_init(&terminal, out);
	cr_expect_eq(terminal.n_columns, CM_TERMINAL_MAX_COLUMNS);
	setenv("COLUMNS", "wide", 1);
	cm_terminal_init(&terminal, out);
	cr_expect_eq(terminal.n_columns, 80);
	fclose(out);
}

Test(table, cuts_a_long_title_but_never_its_cells)
{
	static const struct cm_table_column titled[] = {
		{"counter", CM_TABLE_LEFT, .min_columns = 10},
		{"a_region_with_a_long_name", CM_TABLE_RIGHT, .min_title = 10},
		{"another_region_of_that_kind", CM_TABLE_RIGHT, .min_title = 10},
	};
	struct cm_terminal terminal = {.n_columns = 40};
	struct cm_table *table = NULL;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	cr_assert_eq(cm_table_new(&table, titled, 3), 0);
	cr_assert_eq(cm_table_append_rule(table), 0);
	cr_assert_eq(cm_table_append(table, CM_STYLE_PLAIN,
				     (const char *const[]){"INSTR", "1", "12345678901234"}),
		     0);
	cr_assert_eq(
		cm_table_append(table, CM_STYLE_PLAIN, (const char *const[]){"Events", NULL, NULL}),
		0);
	cr_expect_eq(cm_table_n_rows(table), 3);
	cr_assert_eq(cm_table_print(table, out, &terminal), 0);
	fclose(out);
	cm_table_free(table);
	cr_expect_str_eq(text, "counter  a_regio\xe2\x80\xa6ng_name  another\xe2\x80\xa6t_kind\n"
			       "----------------------------------------\n"
			       "INSTR                  1  12345678901234\n"
			       "Events\n");
	free(text);
}
