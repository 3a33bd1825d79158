/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of the rules file: what a good text becomes. */
#include "test-preload-rules.h"

static void assert_text(const char *actual, const char *expected)
{
	if (!expected)
		cr_assert_null(actual);
	else
		cr_assert_str_eq(actual, expected);
}

Test(rules, a_bare_pattern_gets_the_documented_defaults)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "cblas_dgemm\n");
	const struct cm_rule *rule = rules.rules;

	cr_assert_eq(rules.n_rules, 1u);
	cr_assert_not(rules.has_demangled);
	cr_assert_not(rules.has_library);
	cr_assert_str_eq(rule->pattern, "cblas_dgemm");
	cr_assert_str_eq(rule->text, "cblas_dgemm");
	cr_assert_str_eq(rule->region, "{symbol}");
	cr_assert_null(rule->library);
	cr_assert_null(rule->from);
	cr_assert(rule->is_literal);
	cr_assert(rule->trace);
	cr_assert(rule->markers);
	cr_assert_not(rule->exclude || rule->is_demangled || rule->internal || rule->force_trap ||
		      rule->has_stack_bytes);
	cr_assert_eq(rule->sample, 1u);
	cr_assert_eq(rule->max_events, 1000000u);
	cr_assert_eq(rule->callers, 0u);
	cr_assert_eq(rule->stack_bytes, 512u);
	arena_release(&arena);
}

Test(rules, every_key_is_stored)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(
		&arena, "libm.so*:sin region=math/{symbol} internal=yes markers=off "
			"sample=18446744073709551615 trace=on max-events=unlimited callers=64 "
			"stack-args=65536 force=trap");
	const struct cm_rule *rule = rules.rules;

	cr_assert_str_eq(rule->library, "libm.so*");
	cr_assert_str_eq(rule->pattern, "sin");
	cr_assert_str_eq(rule->region, "math/{symbol}");
	cr_assert(rule->internal && rule->trace && rule->force_trap && rule->has_stack_bytes);
	cr_assert_not(rule->markers);
	cr_assert_eq(rule->sample, UINT64_MAX);
	cr_assert_eq(rule->max_events, UINT64_MAX);
	cr_assert_eq(rule->callers, 64u);
	cr_assert_eq(rule->stack_bytes, 65536u);
	cr_assert(rules.has_library);
	arena_release(&arena);
}

Test(rules, switches_take_their_other_word_too)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "f internal=no markers=on trace=off");

	cr_assert_not(rules.rules->internal);
	cr_assert(rules.rules->markers);
	cr_assert_not(rules.rules->trace);
	arena_release(&arena);
}

Test(rules, no_events_and_no_trace_are_the_same)
{
	struct arena arena = {0};
	struct cm_rules rules =
		parse_good(&arena, "a max-events=0\nb trace=off\nc trace=on max-events=0\n"
				   "d trace=off max-events=5\ne max-events=5\n");

	for (unsigned int i = 0; i < 4; i++) {
		cr_assert_not(rules.rules[i].trace, "rule %u", i);
		cr_assert_eq(rules.rules[i].max_events, 0u, "rule %u", i);
	}
	cr_assert(rules.rules[4].trace);
	cr_assert_eq(rules.rules[4].max_events, 5u);
	arena_release(&arena);
}

Test(rules, stack_bytes_are_rounded_up_to_eight)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "a stack-args=0\nb stack-args=1\n"
						   "c stack-args=8\nd stack-args=65529\n");

	cr_assert_eq(rules.rules[0].stack_bytes, 0u);
	cr_assert_eq(rules.rules[1].stack_bytes, 8u);
	cr_assert_eq(rules.rules[2].stack_bytes, 8u);
	cr_assert_eq(rules.rules[3].stack_bytes, 65536u);
	arena_release(&arena);
}

Test(rules, comments_begin_at_the_line_or_after_a_blank_only)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "# all\n  # of it\na#b # c=d\n\"x # y\"#z\t#\n"
						   "\n   \t\nc\\#");

	cr_assert_eq(rules.n_rules, 3u);
	cr_assert_str_eq(rules.rules[0].pattern, "a#b");
	cr_assert_str_eq(rules.rules[0].text, "a#b");
	cr_assert_eq(rules.rules[0].line, 3u);
	cr_assert_str_eq(rules.rules[1].pattern, "x # y#z");
	cr_assert_str_eq(rules.rules[1].text, "\"x # y\"#z");
	cr_assert_str_eq(rules.rules[2].pattern, "c#");
	cr_assert_eq(rules.rules[2].line, 7u);
	arena_release(&arena);
}

struct pattern_row {
	const char *text;
	const char *library;
	const char *pattern;
	bool exclude;
	bool is_demangled;
	bool is_literal;
};

static const struct pattern_row pattern_rows[] = {
	{"lib:f", "lib", "f", false, false, true},
	{"libfftw3.so*:fftw_execute*", "libfftw3.so*", "fftw_execute*", false, false, false},
	{"a::b", NULL, "a::b", false, true, true},
	{"a::b::c*", NULL, "a::b::c*", false, true, false},
	{"lib:a::b", "lib", "a::b", false, true, true},
	{"lib:::f", "lib", "::f", false, true, true},
	{"::f", NULL, "::f", false, true, true},
	{"a::b:c", "a::b", "c", false, false, true},
	{"f(int)", NULL, "f(int)", false, true, true},
	{"\"Solver::step(*)\"", NULL, "Solver::step(*)", false, true, false},
	{"\"f(int, long)\"", NULL, "f(int, long)", false, true, true},
	{"\"lib x:f(int, long)\"", "lib x", "f(int, long)", false, true, true},
	{"lib:\"f(int, long)\"", "lib", "f(int, long)", false, true, true},
	{"f(int,\\ long)", NULL, "f(int, long)", false, true, true},
	{"a\\ ", NULL, "a ", false, true, true},
	{"\"operator\\\"\\\" _km\"", NULL, "operator\"\" _km", false, true, true},
	{"M::operator\\*\\[\\]", NULL, "M::operator*[]", false, true, true},
	{"M::operator\\**", NULL, "M::operator\\**", false, true, false},
	{"l\\:ib:f\\:g", "l\\:ib", "f:g", false, false, true},
	{"[a-c]f", NULL, "[a-c]f", false, false, false},
	{"[]a]", NULL, "[]a]", false, false, false},
	{"[a-]", NULL, "[a-]", false, false, false},
	{"f?", NULL, "f?", false, false, false},
	{"!f", NULL, "f", true, false, true},
	{"!lib:f*", "lib", "f*", true, false, false},
	{"!\"f g\"", NULL, "f g", true, true, true},
	{"\"!f\"", NULL, "!f", false, false, true},
	{"\\!f", NULL, "!f", false, false, true},
	{"!setjmp", NULL, "setjmp", true, false, true},
	{"set*jmp", NULL, "set*jmp", false, false, false},
	{"operator=", NULL, "operator=", false, false, true},
	{"\xc3\xa9t\xc3\xa9", NULL, "\xc3\xa9t\xc3\xa9", false, false, true},
};

Test(rules, patterns_are_split_unquoted_and_classified)
{
	for (size_t i = 0; i < sizeof(pattern_rows) / sizeof(pattern_rows[0]); i++) {
		const struct pattern_row *row = &pattern_rows[i];
		struct arena arena = {0};
		struct cm_rules rules = parse_good(&arena, row->text);
		const struct cm_rule *rule = rules.rules;

		cr_assert_eq(rules.n_rules, 1u, "%s", row->text);
		assert_text(rule->text, row->text);
		assert_text(rule->library, row->library);
		assert_text(rule->pattern, row->pattern);
		cr_assert_eq(rule->exclude, row->exclude, "%s", row->text);
		cr_assert_eq(rule->is_demangled, row->is_demangled, "%s", row->text);
		cr_assert_eq(rule->is_literal, row->is_literal, "%s", row->text);
		cr_assert_eq(rules.has_demangled, row->is_demangled, "%s", row->text);
		cr_assert_eq(rules.has_library, row->library != NULL, "%s", row->text);
		arena_release(&arena);
	}
}

Test(rules, values_may_be_quoted)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "f region=\"a b # {lib}\"\tfrom=\"my prog\"");

	cr_assert_str_eq(rules.rules->region, "a b # {lib}");
	cr_assert_str_eq(rules.rules->from, "my prog");
	arena_release(&arena);
}

Test(rules, positions_are_lines_and_columns_of_a_file)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "a\n\n\t !b from=x  # c\r\n# d\r\n  e\r\n");

	cr_assert_eq(rules.n_rules, 3u);
	cr_assert_eq(rules.rules[1].index, 1u);
	cr_assert_eq(rules.rules[1].line, 3u);
	cr_assert_eq(rules.rules[1].column, 3u);
	cr_assert_str_eq(rules.rules[1].text, "!b from=x");
	cr_assert_eq(rules.rules[2].line, 5u);
	cr_assert_eq(rules.rules[2].column, 3u);
	cr_assert_str_eq(rules.rules[2].pattern, "e");
	arena_release(&arena);
}

Test(rules, a_byte_order_mark_is_no_part_of_the_first_pattern)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "\xef\xbb\xbf"
						   "f");

	cr_assert_str_eq(rules.rules->pattern, "f");
	cr_assert_eq(rules.rules->column, 1u);
	arena_release(&arena);
}

Test(rules, inline_text_is_parted_by_semicolons_outside_quotes)
{
	struct arena arena = {0};
	struct cm_rules rules = {0};
	int rc = parse_text(&arena, &rules, " a ;; \"b ; c\" region=x;# no;d\\;e\nf # g;h;", NULL,
			    NULL);

	cr_assert_eq(rc, 0);
	cr_assert_eq(rules.n_rules, 5u);
	cr_assert_str_eq(rules.rules[0].pattern, "a");
	cr_assert_str_eq(rules.rules[1].pattern, "b ; c");
	cr_assert_eq(rules.rules[1].line, 2u);
	cr_assert_eq(rules.rules[1].column, 1u);
	cr_assert_str_eq(rules.rules[2].pattern, "d;e");
	cr_assert_str_eq(rules.rules[3].pattern, "f");
	cr_assert_str_eq(rules.rules[4].pattern, "h");
	cr_assert_eq(rules.rules[4].line, 5u);
	arena_release(&arena);
}

Test(rules, a_semicolon_in_a_file_is_a_character)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "a;b");

	cr_assert_eq(rules.n_rules, 1u);
	cr_assert_str_eq(rules.rules->pattern, "a;b");
	arena_release(&arena);
}

Test(rules, texts_without_rules_are_good)
{
	static const char *const texts[] = {"", "\n", "# nothing", " \t \r\n", "\xef\xbb\xbf"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct arena arena = {0};
		struct cm_rules rules = parse_good(&arena, texts[i]);
		struct cm_rules_query query = {.symbol = "f"};
		const struct cm_rule *rule;

		cr_assert_eq(rules.n_rules, 0u);
		cr_assert_eq(cm_rules_find(&rules, &query, &rule), 0);
		cr_assert_not(cm_rules_may_match(&rules, "f"));
		arena_release(&arena);
	}
}

Test(rules, a_second_text_is_appended)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "a\n\"b::*\"\n");
	const struct cm_rule *first = rules.rules;
	struct cm_rules_query query = {.symbol = "a", .caller_is_main = true};
	const struct cm_rule *rule = NULL;

	cr_assert_eq(parse_text(&arena, &rules, "a region=late;lib:c", NULL, NULL), 0);
	cr_assert_eq(rules.n_rules, 4u);
	cr_assert_eq(rules.rules[2].index, 2u);
	cr_assert_eq(rules.rules[2].line, 1u);
	cr_assert(rules.has_demangled && rules.has_library);
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
	cr_assert_str_eq(rule->region, "{symbol}");
	cr_assert_str_eq(first->pattern, "a", "earlier pointers stay good");
	query.symbol = "c";
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
	cr_assert_eq(rule->index, 3u);
	arena_release(&arena);
}

Test(rules, a_failure_leaves_the_rules_as_they_were)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "a\n");
	struct cm_rules before = rules;

	cr_assert_eq(parse_text(&arena, &rules, "lib:b\nc::d\ne=f g\n", "x", NULL), -EINVAL);
	cr_assert_eq(memcmp(&rules, &before, sizeof(rules)), 0);
	arena_release(&arena);
}

Test(rules, no_memory_is_said_wherever_it_ends)
{
	for (unsigned int n_allowed = 1; n_allowed < 5; n_allowed++) {
		struct arena arena = {.n_allowed = n_allowed};
		struct cm_rules rules = {0};
		struct cm_diag diag = {0};

		cr_assert_eq(parse_text(&arena, &rules, "a\nb*\n", "r", &diag), -ENOMEM);
		cr_assert_str_eq(diag.text, "r: no memory for 2 rules");
		cr_assert_eq(rules.n_rules, 0u);
		arena_release(&arena);
	}
}

Test(rules, entries_are_asked_about_by_object_or_source_file)
{
	struct arena arena = {0};
	struct cm_rules rules =
		parse_good(&arena, "a.c:solve internal=yes region=1\nlibx.so:solve internal=yes "
				   "region=2\nsolve from=main\nb.c:solve\nstep\n!c.c:solve\n");
	struct cm_rules_query query = {.symbol = "solve", .is_entry = true, .library = "prog"};
	const struct cm_rule *rule = NULL;

	cr_assert(rules.has_internal && !rules.has_callers);
	query.source = "a.c";
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
	cr_assert_str_eq(rule->region, "1");
	query.library = "libx.so";
	query.source = NULL;
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
	cr_assert_str_eq(rule->region, "2");
	query.source = "c.c";
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), -ECANCELED);
	query.library = "prog";
	query.source = "b.c"; /* rules about callers, and other objects' slots */
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 0);
	query.symbol = "step"; /* the first match is for slots: its entry is left alone */
	cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
	cr_assert_not(rule->internal);
	arena_release(&arena);
}
