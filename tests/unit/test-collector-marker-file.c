/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/marker-file.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cm_arena arena;
static struct cm_marker_file file;

static void teardown(void)
{
	cm_arena_fini(&arena);
}

TestSuite(marker_file, .fini = teardown);

static void parse(const char *text)
{
	struct cm_diag diag = {0};
	int rc = cm_marker_file_parse(&file, text, strlen(text), "file", &arena, &diag);

	cr_assert_eq(rc, 0, "%s", diag.text);
}

/* As LIKWID 5.2.2 wrote it. */
static const char two_regions[] =
	"2 2 1\n"
	"0:a-0\n"
	"1:b-0\n"
	"0 0 -1 0 0.000000e+00 3 0.000000e+00 0.000000e+00 0.000000e+00 \n"
	"0 0 1 2 1.605963e-04 3 2.496000e+08 2.080000e+08 nan \n"
	"1 0 0 7 1.000000e+00 3 1.000000e+00 2.000000e+00 3.000000e+00 \n"
	"1 0 1 1 6.009592e-08 3 4.000000e+00 5.000000e+00 6.000000e+00 \n";

Test(marker_file, reads_tags_threads_and_values)
{
	parse(two_regions);
	cr_assert_str_empty(file.damage.text);
	cr_assert_eq(file.n_threads, 2);
	cr_assert_eq(file.n_groups, 1);
	cr_assert_eq(file.n_regions, 2);
	cr_assert_str_eq(file.regions[0].tag, "a");
	cr_assert_str_eq(file.regions[1].tag, "b");
	cr_assert_eq(file.regions[1].n_rows, 2);
	cr_assert_eq(file.regions[1].n_events, 3);
	cr_assert_eq(file.regions[1].cpus[0], 0);
	cr_assert_eq(file.regions[1].cpus[1], 1);
	cr_assert_eq(file.regions[1].counts[0], 7);
	cr_assert_eq(file.regions[1].times[1], 6.009592e-08);
	/* Rows are events, columns threads. */
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(file.regions[1].events[2 * i], 1 + i);
		cr_assert_eq(file.regions[1].events[2 * i + 1], 4 + i);
	}
}

Test(marker_file, leaves_absent_threads_out_and_keeps_nan)
{
	parse(two_regions);
	cr_assert_eq(file.regions[0].n_rows, 1);
	cr_assert_eq(file.regions[0].cpus[0], 1);
	cr_assert_eq(file.regions[0].counts[0], 2);
	cr_assert_eq(file.regions[0].events[1], 2.08e8);
	cr_assert(isnan(file.regions[0].events[2]));
}

Test(marker_file, takes_tags_with_blanks_colons_dashes_bars_and_any_bytes)
{
	static const char *const tags[] = {"a b", "a:b", "x-1", "a|b", "\xc3\xa4", "-", "", "\xff"};
	char text[1024];
	int n = sprintf(text, "1 8 3\n");

	for (int i = 0; i < 8; i++)
		n += sprintf(text + n, "%d:%s-2\n", i, tags[i]);
	for (int i = 0; i < 8; i++)
		n += sprintf(text + n, "%d 2 0 1 1.0e+00 1 %d.0e+00 \n", i, i);
	parse(text);
	cr_assert_str_empty(file.damage.text);
	for (int i = 0; i < 8; i++) {
		cr_assert_str_eq(file.regions[i].tag, tags[i]);
		cr_assert_eq(file.regions[i].group, 2);
		cr_assert_eq(file.regions[i].events[0], i);
	}
}

Test(marker_file, keeps_what_stands_before_a_cut)
{
	/* At every byte of the last two lines. */
	size_t n_whole = strlen(two_regions),
	       first = (size_t)(strstr(two_regions, "1 0 0 7") - two_regions);

	for (size_t n = first; n < n_whole; n++) {
		struct cm_diag diag = {0};
		char text[sizeof(two_regions)] = {0};

		memcpy(text, two_regions, n);
		cr_assert_eq(cm_marker_file_parse(&file, text, n, "file", &arena, &diag), 0);
		cr_assert_eq(file.regions[0].n_rows, 1);
		cr_assert_leq(file.regions[1].n_rows, 1);
		cr_assert_eq(file.damage.text[0] == '\0', text[n - 1] == '\n', "%zu", n);
	}
}

Test(marker_file, drops_a_tag_with_a_newline_and_its_values_alone)
{
	parse("1 2 1\n0:bad\ntag-0\n1:good-0\n0 0 0 1 1.0 1 5.0 \n1 0 0 1 1.0 1 6.0 \n");
	cr_assert_str_eq(file.damage.text, "file line 2: not a tag with its group");
	cr_assert_null(file.regions[0].tag);
	cr_assert_eq(file.regions[0].n_rows, 0);
	cr_assert_str_eq(file.regions[1].tag, "good");
	cr_assert_eq(file.regions[1].events[0], 6);
}

/* Found by the fuzzer: the second pass took lines that the first had not counted. */
Test(marker_file, drops_values_that_stand_before_their_tag)
{
	parse("1 1 1\n"
	      "0 0 5 9 1.0e+00 1 7.0e+00 \n"
	      "0:a-0\n"
	      "0 0 1 2 1.0e+00 1 3.0e+00 \n");
	cr_assert_str_not_empty(file.damage.text);
	cr_assert_eq(file.regions[0].n_rows, 1);
	cr_assert_eq(file.regions[0].cpus[0], 1);
	cr_assert_eq(file.regions[0].counts[0], 2);
	cr_assert_eq(file.regions[0].events[0], 3);
}

Test(marker_file, measures_what_would_overrun_likwids_own_reader)
{
	parse(two_regions);
	cr_assert_eq(file.longest_values, strlen(" 2.080000e+08 2.080000e+08 2.080000e+08 "));
	cr_assert_eq(file.longest_line,
		     strlen("0 0 -1 0 0.000000e+00 3 0.000000e+00 0.000000e+00 0.000000e+00 "));
}

struct bad_row {
	char name[32];
	char line[64];
};

ParameterizedTestParameters(marker_file, drops_lines_that_make_no_sense)
{
	static struct bad_row rows[] = {
		{"no such region", "9 0 0 1 1.0 1 5.0 "},
		{"another group", "0 1 0 1 1.0 1 5.0 "},
		{"too few values", "0 0 0 1 1.0 2 5.0 "},
		{"too many values", "0 0 0 1 1.0 1 5.0 6.0 "},
		{"negative calls", "0 0 0 -1 1.0 1 5.0 "},
		{"negative region", "-1 0 0 1 1.0 1 5.0 "},
		{"huge cpu", "0 0 99999999 1 1.0 1 5.0 "},
		{"huge number of events", "0 0 0 1 1.0 99999999 5.0 "},
		{"overflowing number", "0 0 0 99999999999999999999 1.0 1 5.0 "},
		{"no number", "0 0 0 1 x 1 5.0 "},
		{"tab, then nothing", "0 0 0 1 1.0 1 \t"},
		{"empty", ""},
		{"text", "Segmentation fault"},
		{"a tag twice", "0:again-0"},
		{"a tag beyond the number", "5:x-0"},
		{"a group beyond the number", "1:x-7"},
		{"a tag without group", "1:x"},
		{"a tag with text for a group", "1:x-y"},
	};

	return cr_make_param_array(struct bad_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct bad_row *row, marker_file, drops_lines_that_make_no_sense)
{
	char text[256];

	/* The next line is one: a number must not be looked for in it. */
	snprintf(text, sizeof(text), "1 2 1\n0:a-0\n0 0 0 1 1.0 1 4.0 \n%s\n0 0 1 1 1.0 1 5.0 \n",
		 row->line);
	parse(text);
	cr_assert_neq(file.damage.text[0], '\0', "%s", row->name);
	cr_assert_eq(file.regions[0].n_rows, 2, "%s", row->name);
	cr_assert_str_eq(file.regions[0].tag, "a");
	cr_assert_eq(file.regions[0].events[0], 4, "%s", row->name);
	cr_assert_eq(file.regions[0].events[1], 5, "%s", row->name);
	cr_assert_null(file.regions[1].tag);
}

Test(marker_file, believes_no_number_that_is_larger_than_the_file)
{
	parse("1 4000000000 1\n0:a-0\n0 0 0 1 1.0 1 5.0 \n");
	cr_assert_leq(file.n_regions, 2);
	cr_assert_eq(file.regions[0].events[0], 5);
	cr_assert_neq(file.damage.text[0], '\0');
}

ParameterizedTestParameters(marker_file, refuses_other_files)
{
	static struct bad_row rows[] = {
		{"empty", ""},	       {"text", "hello\n"},	 {"two numbers", "1 2\n"},
		{"four", "1 2 3 4\n"}, {"negative", "1 -2 3\n"}, {"no newline", "1 2 3"}};

	return cr_make_param_array(struct bad_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct bad_row *row, marker_file, refuses_other_files)
{
	struct cm_diag diag = {0};

	cr_assert_eq(
		cm_marker_file_parse(&file, row->line, strlen(row->line), "file", &arena, &diag),
		-EINVAL, "%s", row->name);
	cr_assert_neq(diag.text[0], '\0');
}

Test(marker_file, says_that_there_is_none)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_marker_file_load(&file, "/nonexistent/file", &arena, &diag), -ENOENT);
	cr_assert(strstr(diag.text, "/nonexistent/file"));
	cr_assert_eq(cm_marker_file_load(&file, "/tmp", &arena, NULL), -EINVAL);
}
