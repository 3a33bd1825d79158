/* SPDX-License-Identifier: BSD-3-Clause */
/* The text made from a rule: the name of its region. */
#include "test-preload-rules.h"

struct region_row {
	const char *region;
	const char *demangled;
	const char *library;
	const char *expected;
};

static const struct region_row region_rows[] = {
	{"{symbol}", NULL, NULL, "sym"},
	{"a/{symbol}", NULL, NULL, "a/sym"},
	{"{lib}:{symbol}:{demangled}", "S::f()", "liba.so.1", "liba.so.1:sym:S::f()"},
	{"{demangled}", NULL, NULL, "sym"},
	{"{lib}", NULL, NULL, "?"},
	{"{symbol}{symbol}", NULL, NULL, "symsym"},
	{"a}b", NULL, NULL, "a}b"},
	{"\\{symbol}\\\\", NULL, NULL, "{symbol}\\"},
	{"\"x y\"{symbol}", NULL, NULL, "x ysym"},
	{"\"q\\\"q\"", NULL, NULL, "q\"q"},
	{"{demangled}", "{lib}", "l", "{lib}"}, /* what is put in is not expanded again */
};

Test(rules_region, templates_are_expanded)
{
	for (size_t i = 0; i < sizeof(region_rows) / sizeof(region_rows[0]); i++) {
		const struct region_row *row = &region_rows[i];
		struct arena arena = {0};
		char text[128] = "f region=";
		struct cm_rules rules;
		char buf[64];
		size_t n;

		rules = parse_good(&arena, strcat(text, row->region));
		n = cm_rules_region(rules.rules, "sym", row->demangled, row->library, buf,
				    sizeof(buf));
		cr_assert_str_eq(buf, row->expected);
		cr_assert_eq(n, strlen(row->expected));
		arena_release(&arena);
	}
}

/* "aé€𝄞" in room for n bytes and the NUL. */
Test(rules_region, a_cut_keeps_utf8_characters_whole)
{
	static const char symbol[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e";
	static const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "*");
	char buf[12];

	for (size_t n = 0; n <= 10; n++) {
		memset(buf, '#', sizeof(buf));
		cr_assert_eq(cm_rules_region(rules.rules, symbol, NULL, NULL, buf, n + 1),
			     expected[n], "%zu", n);
		cr_assert_eq(buf[expected[n]], '\0');
		cr_assert_eq(memcmp(buf, symbol, expected[n]), 0);
		cr_assert_eq(buf[n + 1], '#', "nothing behind the buffer is touched");
	}
	arena_release(&arena);
}

Test(rules_region, bytes_that_are_no_utf8_are_cut_anywhere)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "*");
	char buf[6];

	cr_assert_eq(cm_rules_region(rules.rules, "\x80\x80\x80\x80\x80\x80\x80", NULL, NULL, buf,
				     sizeof(buf)),
		     5u);
	cr_assert_eq(cm_rules_region(rules.rules, "abc", NULL, NULL, NULL, 0), 0u);
	arena_release(&arena);
}

Test(rules_region, a_cut_name_gets_nothing_behind_the_cut)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "* region={symbol}x");
	char buf[3];

	cr_assert_eq(cm_rules_region(rules.rules, "a\xc3\xa9", NULL, NULL, buf, sizeof(buf)), 1u);
	cr_assert_str_eq(buf, "a");
	arena_release(&arena);
}
