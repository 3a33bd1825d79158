/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts that the file can hold: writer/region-name.h and writer/utf8.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <stdlib.h>
#include <string.h>

#include "writer/region-name.h"
#include "writer/utf8.h"

static const char *tag_of(const void *ctx, size_t i)
{
	return ((const char *const *)ctx)[i];
}

static void check(const char *const *tags, const char *const *want, size_t n)
{
	char **names;

	cr_assert_eq(cm_region_names_new(tag_of, tags, n, &names), 0);
	for (size_t i = 0; i < n; i++)
		cr_assert_str_eq(names[i], want[i]);
	cm_region_names_free(names, n);
}

Test(names, slashes_become_bars)
{
	const char *const tags[] = {"mpi/MPI_Send", "a//b/", "plain"};
	const char *const want[] = {"mpi|MPI_Send", "a||b|", "plain"};

	check(tags, want, 3);
}

Test(names, later_ones_of_a_name_are_numbered)
{
	const char *const tags[] = {"a/b", "a|b", "a/b", "c", "a|b"};
	const char *const want[] = {"a|b", "a|b#2", "a|b#3", "c", "a|b#4"};

	check(tags, want, 5);
}

Test(names, a_number_that_is_taken_is_passed_over)
{
	const char *const tags[] = {"x#2", "x", "x", "x#3", "x"};
	const char *const want[] = {"x#2", "x", "x#3", "x#3#2", "x#4"};

	check(tags, want, 5);
}

Test(names, what_hdf5_cannot_hold_has_another_name)
{
	const char *const tags[] = {"", ".", "..", "(dot)", "\xff"};
	const char *const want[] = {"(empty)", "(dot)", "..", "(dot)#2", "\xef\xbf\xbd"};

	check(tags, want, 5);
}

Test(names, long_ones_are_cut_between_characters_and_stay_unique)
{
	char *tags[2], **names;

	for (int i = 0; i < 2; i++) {
		tags[i] = calloc(1, 9001);
		for (int k = 0; k < 3000; k++)
			memcpy(tags[i] + 3 * k, "\xe2\x82\xac", 3);
		tags[i][8999 - 3 * i] = '\0'; /* differ behind the cut */
	}
	cr_assert_eq(cm_region_names_new(tag_of, tags, 2, &names), 0);
	cr_assert_eq(strlen(names[0]), 4095);
	cr_assert(cm_utf8_is_valid(names[0]));
	cr_assert_eq(strlen(names[1]), 4097);
	cr_assert_str_eq(names[1] + 4095, "#2");
	cm_region_names_free(names, 2);
	free(tags[0]);
	free(tags[1]);
}

struct text_case {
	char name[24];
	char text[16];
	char want[32];
};

ParameterizedTestParameters(names, invalid_bytes_become_one_mark_each)
{
	static struct text_case cases[] = {
		{"plain", "abc", "abc"},
		{"two bytes", "\xc3\xa4", "\xc3\xa4"},
		{"four bytes", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"greatest", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
		{"lone continuation", "a\x80z", "a\xef\xbf\xbdz"},
		{"cut short", "\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"overlong slash", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
		{"overlong of three", "\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"too great", "\xf4\x90\x80\x80",
		 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"bad lead then good", "\xc3(", "\xef\xbf\xbd("},
	};

	return cr_make_param_array(struct text_case, cases, sizeof(cases) / sizeof(cases[0]));
}

ParameterizedTest(struct text_case *param, names, invalid_bytes_become_one_mark_each)
{
	char *owned = NULL;

	cr_assert_eq(cm_utf8_clean(param->text, &owned), 0);
	cr_assert_str_eq(owned ? owned : param->text, param->want);
	cr_assert_eq(owned == NULL, cm_utf8_is_valid(param->text));
	cr_assert(cm_utf8_is_valid(owned ? owned : param->text));
	free(owned);
}

Test(names, cuts_count_characters_not_bytes)
{
	char *text = calloc(1, 3 * 60001 + 1), *owned;

	for (int i = 0; i < 60000; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);
	cr_assert_eq(cm_utf8_clean(text, &owned), 0);
	cr_assert_null(owned);
	strcat(text, "x");
	cr_assert_eq(cm_utf8_clean(text, &owned), 0);
	cr_assert(owned);
	cr_assert_eq(strlen(owned), 3 * (60000 - 14) + 14);
	cr_assert_str_eq(owned + strlen(owned) - 14, CM_UTF8_CUT_MARK);
	free(owned);
	free(text);
}
