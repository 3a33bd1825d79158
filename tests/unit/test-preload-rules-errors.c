/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser of the rules file: what it says about a bad text, and where. */
#include <stdio.h>

#include "test-preload-rules.h"

#define KEYS "region from internal markers sample trace max-events callers stack-args force"
#define UINT64_TEXT "18446744073709551615"
#define GONE "it returns twice, into a frame that is gone by then (take the rule out)"

struct error_row {
	const char *text;
	const char *expected; /* behind "r:" */
};

static void assert_errors(const struct error_row *rows, size_t n_rows)
{
	for (size_t i = 0; i < n_rows; i++) {
		struct arena arena = {0};
		struct cm_rules rules = {0};
		struct cm_diag diag = {0};
		int rc = parse_text(&arena, &rules, rows[i].text, "r", &diag);

		cr_assert_eq(rc, -EINVAL, "%s: %d", rows[i].text, rc);
		cr_assert_eq(strncmp(diag.text, "r:", 2), 0, "%s", diag.text);
		cr_assert_str_eq(diag.text + 2, rows[i].expected);
		arena_release(&arena);
	}
}

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(rules_errors, keys)
{
	static const struct error_row rows[] = {
		{"f regoin=x", "1:3: unknown key \"regoin\", expected one of: " KEYS},
		{"f =x", "1:3: unknown key \"\", expected one of: " KEYS},
		{"f Region=x", "1:3: unknown key \"Region\", expected one of: " KEYS},
		{"a\nb\n\n  f  trace=on sample=2  trace=off",
		 "4:25: duplicate key \"trace\", expected each key once a rule"},
		{"f trace=on trace=on",
		 "1:12: duplicate key \"trace\", expected each key once a rule"},
		{"int f", "1:5: found \"f\", expected KEY=VALUE (a pattern with blanks stands in "
			  "quotes)"},
		{"f trace = on", "1:3: found \"trace\", expected KEY=VALUE (a pattern with blanks "
				 "stands in quotes)"},
		{"!f region=x", "1:4: key \"region\" on an exclusion, expected from or nothing"},
		{"!f from=x trace=off",
		 "1:11: key \"trace\" on an exclusion, expected from or nothing"},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, values)
{
	static const struct error_row rows[] = {
		{"f internal=on", "1:12: bad value \"on\" of internal, expected yes or no"},
		{"f internal=yes from=main",
		 "1:1: from with internal=yes, expected one of them: a function's entry is the "
		 "same for all callers"},
		{"  f force=trap", "1:3: force=trap, expected internal=yes with it"},
		{"f markers=yes", "1:11: bad value \"yes\" of markers, expected on or off"},
		{"f trace=", "1:9: bad value \"\" of trace, expected on or off"},
		{"f trace=offf", "1:9: bad value \"offf\" of trace, expected on or off"},
		{"f force=yes", "1:9: bad value \"yes\" of force, expected trap"},
		{"f region=", "1:10: bad value \"\" of region, expected the name of a region"},
		{"f region=\"\"",
		 "1:10: bad value \"\"\"\" of region, expected the name of a region"},
		{"f from=",
		 "1:8: bad value \"\" of from, expected a glob on the name of the calling "
		 "object, or main"},
		{"f sample=0",
		 "1:10: bad value \"0\" of sample, expected a number from 1 to " UINT64_TEXT},
		{"f sample=1k",
		 "1:10: bad value \"1k\" of sample, expected a number from 1 to " UINT64_TEXT},
		{"f sample=-1",
		 "1:10: bad value \"-1\" of sample, expected a number from 1 to " UINT64_TEXT},
		{"f sample=",
		 "1:10: bad value \"\" of sample, expected a number from 1 to " UINT64_TEXT},
		{"f sample=18446744073709551616",
		 "1:10: bad value \"18446744073709551616\" of sample, "
		 "expected a number from 1 to " UINT64_TEXT},
		{"f max-events=all",
		 "1:14: bad value \"all\" of max-events, expected a number from 0 "
		 "to " UINT64_TEXT ", or unlimited"},
		{"f callers=65",
		 "1:11: bad value \"65\" of callers, expected a number from 0 to 64"},
		{"f stack-args=65537",
		 "1:14: bad value \"65537\" of stack-args, expected a number from 0 to 65536"},
		{"f stack-args=0x10",
		 "1:14: bad value \"0x10\" of stack-args, expected a number from 0 to 65536"},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, region_templates)
{
	static const struct error_row rows[] = {
		{"f region=a/{sym}/b", "1:12: unknown placeholder \"{sym}\" in region, expected "
				       "{symbol}, {demangled} or {lib}"},
		{"f region={symbol}{}", "1:18: unknown placeholder \"{}\" in region, expected "
					"{symbol}, {demangled} or {lib}"},
		{"f region=\"a {symbol\"",
		 "1:13: \"{\" without end in region, expected a \"}\" (or "
		 "\"\\{\" for the brace itself)"},
		{"f region=a\\",
		 "1:11: \"\\\" at the end of region, expected a character after it"},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, globs)
{
	static const struct error_row rows[] = {
		{"MPI_[ab", "1:5: bad glob: \"[\" without end, expected a \"]\""},
		{"a[", "1:2: bad glob: \"[\" without end, expected a \"]\""},
		{"a[]", "1:2: bad glob: \"[\" without end, expected a \"]\""},
		{"a[!]", "1:2: bad glob: \"[\" without end, expected a \"]\""},
		{"[a]b[c\\]", "1:5: bad glob: \"[\" without end, expected a \"]\""},
		{"[a-", "1:1: bad glob: \"[\" without end, expected a \"]\""},
		{"x[az-a]", "1:4: bad glob: range \"z-a\" out of order"},
		{"f\\", "1:2: bad glob: \"\\\" at the end, expected a character after it"},
		{"  \"M::f()\"\\",
		 "1:11: bad glob: \"\\\" at the end, expected a character after it"},
		{"f\\\n", "1:2: bad glob: \"\\\" at the end, expected a character after it"},
		{"f\\\r\n", "1:2: bad glob: \"\\\" at the end, expected a character after it"},
		{"l[ib:f", "1:2: bad glob: \"[\" without end, expected a \"]\""},
		{"f from=\"a\"[b", "1:11: bad glob: \"[\" without end, expected a \"]\""},
		{"\"M::operator[](int)\"", "1:13: bad glob: \"[\" without end, expected a \"]\""},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, missing_parts)
{
	static const char missing[] = "missing pattern, expected the name of a function or a glob";
	static const struct {
		const char *text;
		const char *place;
	} rows[] = {
		{"!", "1:2: "},	   {"! f", "1:2: "},	{"\"\"", "1:1: "},
		{"lib:", "1:5: "}, {"lib: f", "1:5: "}, {"!lib:\"\"", "1:6: "},
	};
	static const struct error_row others[] = {
		{":f", "1:1: found \":\", expected the name of an object before it"},
		{" !:f", "1:3: found \":\", expected the name of an object before it"},
		{"a\n\"b::c d", "2:1: quote without end, expected another '\"'"},
		{"a region=\"b\nc\"", "1:10: quote without end, expected another '\"'"},
	};

	for (size_t i = 0; i < N_ROWS(rows); i++) {
		char expected[128];
		struct error_row row = {rows[i].text, expected};

		(void)snprintf(expected, sizeof(expected), "%s%s", rows[i].place, missing);
		assert_errors(&row, 1);
	}
	assert_errors(others, N_ROWS(others));
}

Test(rules_errors, forbidden_symbols_named_literally)
{
	static const struct error_row rows[] = {
		{"a\nsetjmp", "2:1: \"setjmp\" cannot be intercepted: " GONE},
		{"libc.so.6:vfork trace=off", "1:11: \"vfork\" cannot be intercepted: " GONE},
		{"\"vfork\"", "1:1: \"vfork\" cannot be intercepted: " GONE},
		{"dlsym", "1:1: \"dlsym\" cannot be intercepted: callmark handles the loader "
			  "itself (take the rule out)"},
		{"_Unwind_Resume", "1:1: \"_Unwind_Resume\" cannot be intercepted: it walks the "
				   "stack that a thunk would stand on (take the rule out)"},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, binary_bytes)
{
	static const struct error_row rows[] = {
		{"\x7f"
		 "ELF",
		 "1:1: found byte 0x7f, expected text (is this a rules file?)"},
		{"a\nb\x01", "2:2: found byte 0x1, expected text (is this a rules file?)"},
		{"a # \x1b[m", "1:5: found byte 0x1b, expected text (is this a rules file?)"},
		{"a\rb", "1:2: found byte 0xd, expected text (is this a rules file?)"},
		{"a\\\x02", "1:3: found byte 0x2, expected text (is this a rules file?)"},
	};
	struct cm_rules_alloc alloc = {arena_alloc, NULL};
	struct cm_rules rules = {0};
	struct cm_diag diag = {0};

	assert_errors(rows, N_ROWS(rows));
	cr_assert_eq(cm_rules_parse(&rules, "ab\0c", 4, "r", &alloc, &diag), -EINVAL);
	cr_assert_str_eq(diag.text, "r:1:3: found byte 0x0, expected text (is this a rules file?)");
}

Test(rules_errors, the_first_error_of_a_file_is_the_one_told)
{
	static const struct error_row rows[] = {
		{"good\nf bad\ng\x01\n", "2:3: found \"bad\", expected KEY=VALUE (a pattern with "
					 "blanks stands in quotes)"},
		{"good\nf\x01 bad\nlib:\n", "2:2: found byte 0x1, expected text (is this a rules "
					    "file?)"},
	};

	assert_errors(rows, N_ROWS(rows));
}

Test(rules_errors, inline_rules_are_counted)
{
	static const struct error_row rows[] = {
		{"a;  ; \"b ; c\" x=y",
		 "rule 2, column 9: unknown key \"x\", expected one of: " KEYS},
		{"a;b;\"c", "rule 3, column 1: quote without end, expected another '\"'"},
		{"! ;a", "rule 1, column 2: missing pattern, expected the name of a function or a "
			 "glob"},
	};

	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct arena arena = {0};
		struct cm_rules rules = {0};
		struct cm_diag diag = {0};

		cr_assert_eq(parse_text(&arena, &rules, rows[i].text, NULL, &diag), -EINVAL);
		cr_assert_str_eq(diag.text, rows[i].expected);
		arena_release(&arena);
	}
}

Test(rules_errors, long_words_and_names_leave_room_for_the_message)
{
	char text[300];
	char name[1000];
	struct arena arena = {0};
	struct cm_rules rules = {0};
	struct cm_diag diag = {0};

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	/* "f " and 99 two-byte characters, so that a cut at an even length would split one. */
	memcpy(text, "f ", 2);
	for (size_t i = 2; i < 200; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	memcpy(text + 200, "=1", 3);
	cr_assert_eq(parse_text(&arena, &rules, text, name, &diag), -EINVAL);
	cr_assert_eq(strncmp(diag.text, "...nnn", 6), 0);
	cr_assert_not_null(strstr(diag.text, "n:1:3: unknown key \"\xc3\xa9"));
	cr_assert_not_null(strstr(diag.text, "\xc3\xa9...\", expected one of: " KEYS));
	arena_release(&arena);
}

Test(rules_errors, a_file_above_the_limit_is_refused_unread)
{
	struct cm_rules_alloc alloc = {arena_alloc, NULL};
	struct cm_rules rules = {0};
	struct cm_diag diag = {0};

	cr_assert_eq(cm_rules_parse(&rules, NULL, CM_RULES_MAX_BYTES + 1u, "big", &alloc, &diag),
		     -EFBIG);
	cr_assert_str_eq(diag.text, "big: 16777217 bytes, expected at most 16777216");
	cr_assert_eq(cm_rules_parse(&rules, NULL, 100000000, NULL, &alloc, NULL), -EFBIG);
}

Test(rules_errors, a_file_of_one_hundred_thousand_rules_is_read)
{
	size_t n_room = 8u << 20;
	char *text = malloc(n_room);
	struct arena arena = {0};
	struct cm_rules rules;
	size_t n = 0;

	cr_assert_not_null(text);
	for (unsigned int i = 0; i < 100000; i++)
		n += (size_t)snprintf(text + n, n_room - n, "function_%u region=r%u\n", i, i % 7);
	rules = parse_good(&arena, text);
	cr_assert_eq(rules.n_rules, 100000u);
	for (unsigned int i = 0; i < 100000; i += 37) {
		char symbol[32];
		struct cm_rules_query query = {.symbol = symbol};
		const struct cm_rule *rule = NULL;

		(void)snprintf(symbol, sizeof(symbol), "function_%u", i);
		cr_assert_eq(cm_rules_find(&rules, &query, &rule), 1);
		cr_assert_eq(rule->line, i + 1);
		cr_assert(cm_rules_may_match(&rules, symbol));
		symbol[0] = 'g';
		cr_assert_eq(cm_rules_find(&rules, &query, &rule), 0);
		cr_assert_not(cm_rules_may_match(&rules, symbol));
	}
	arena_release(&arena);
	free(text);
}
