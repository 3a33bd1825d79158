/* SPDX-License-Identifier: BSD-3-Clause */
/* From a symbol to its rule: precedence, exclusions, objects, globs, what is never intercepted. */
#include "test-preload-rules.h"

#include <stdio.h>

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The index of the rule that answers, or the error. */
static int find(const struct cm_rules *rules, struct cm_rules_query query)
{
	const struct cm_rule *rule = NULL;
	int rc = cm_rules_find(rules, &query, &rule);

	cr_assert_eq(rc == 1, rule != NULL, "the result is set on success, and only then");
	return rc == 1 ? (int)rule->index : rc == 0 ? -1 : rc;
}

#define FIND(rules, ...) find(&(rules), (struct cm_rules_query){.symbol = __VA_ARGS__})

Test(rules_find, the_first_rule_that_matches_wins_literal_or_not)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "f1 region=a\nf*\nf1 region=b\nf2\ng?\ng1\n");

	cr_assert_eq(FIND(rules, "f1"), 0);
	cr_assert_eq(FIND(rules, "f2"), 1);
	cr_assert_eq(FIND(rules, "f"), 1);
	cr_assert_eq(FIND(rules, "g1"), 4);
	cr_assert_eq(FIND(rules, "g"), -1);
	cr_assert_eq(FIND(rules, ""), -1);
	arena_release(&arena);
}

Test(rules_find, exclusions_beat_every_rule_wherever_they_stand)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "!a\na\nMPI_*\nMPI_Wtime\n!MPI_W*\n!zz\n");

	cr_assert_eq(FIND(rules, "a"), -ECANCELED);
	cr_assert_eq(FIND(rules, "MPI_Send"), 2);
	cr_assert_eq(FIND(rules, "MPI_Wtime"), -ECANCELED);
	cr_assert_eq(FIND(rules, "MPI_Wtick"), -ECANCELED);
	cr_assert_eq(FIND(rules, "zz"), -1, "nothing to exclude");
	arena_release(&arena);
}

Test(rules_find, library_prefixes_limit_the_defining_object)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "liba.so*:f\nlibb.so:f\nf\n!libz*:*\n");

	cr_assert_eq(FIND(rules, "f", .library = "liba.so.1"), 0);
	cr_assert_eq(FIND(rules, "f", .library = "libb.so"), 1);
	cr_assert_eq(FIND(rules, "f", .library = "libb.so.1"), 2);
	cr_assert_eq(FIND(rules, "f", .library = "libz.so"), -ECANCELED);
	cr_assert_eq(FIND(rules, "f"), 0, "not known: a rule matches, an exclusion does not");
	arena_release(&arena);
}

Test(rules_find, from_limits_the_calling_object)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "f from=main\nf from=libx*\n!f from=liby.so\n"
						   "g from=prog\nf region=rest\n");

	cr_assert_eq(FIND(rules, "f", .caller = "prog", .caller_is_main = true), 0);
	cr_assert_eq(FIND(rules, "f", .caller = "main"), 4, "a library of that name is not main");
	cr_assert_eq(FIND(rules, "f", .caller = "libx.so"), 1);
	cr_assert_eq(FIND(rules, "f", .caller = "liby.so"), -ECANCELED);
	cr_assert_eq(FIND(rules, "f", .caller = "libw.so"), 4);
	cr_assert_eq(FIND(rules, "f"), 1);
	cr_assert_eq(FIND(rules, "g", .caller = "prog", .caller_is_main = true), 3);
	arena_release(&arena);
}

Test(rules_find, demangled_patterns_are_matched_on_the_demangled_name_only)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "\"S::step(*)\"\n\"S::go(int, int)\"\nS*\n"
						   "!S::gone*\n_ZN1S*\n");

	cr_assert_eq(FIND(rules, "_ZN1S4stepEi", .demangled = "S::step(int)"), 0);
	cr_assert_eq(FIND(rules, "_ZN1S2goEii", .demangled = "S::go(int, int)"), 1);
	cr_assert_eq(FIND(rules, "_ZN1S3endEv", .demangled = "S::end()"), 4);
	cr_assert_eq(FIND(rules, "_ZN1S4goneEv", .demangled = "S::gone()"), -ECANCELED);
	cr_assert_eq(FIND(rules, "S::step(int)"), 2);
	cr_assert_eq(FIND(rules, "_ZN1S4stepEi"), 4);
	arena_release(&arena);
}

Test(rules_find, a_wildcard_skips_what_is_never_intercepted)
{
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "*\n!vfork\n");

	cr_assert_eq(FIND(rules, "malloc"), 0);
	cr_assert_eq(FIND(rules, "setjmp"), -EPERM);
	cr_assert_eq(FIND(rules, "_Unwind_Resume"), -EPERM);
	cr_assert_eq(FIND(rules, "vfork"), -ECANCELED);
	arena_release(&arena);
}

Test(rules_find, may_match_answers_for_any_library_and_caller)
{
	struct arena arena = {0};
	struct cm_rules rules =
		parse_good(&arena, "lib:f from=main\n!g\nlong_prefix_*\n!h*\n*_end\n"
				   "[xy]z\n\\*star\n");
	struct cm_rules demangled;

	cr_assert(cm_rules_may_match(&rules, "f"));
	cr_assert(cm_rules_may_match(&rules, "long_prefix_1"));
	cr_assert(cm_rules_may_match(&rules, "the_end"));
	cr_assert(cm_rules_may_match(&rules, "yz"));
	cr_assert(cm_rules_may_match(&rules, "*star"));
	cr_assert_not(cm_rules_may_match(&rules, "xstar"));
	cr_assert_not(cm_rules_may_match(&rules, "g"));
	cr_assert_not(cm_rules_may_match(&rules, "hh"));
	cr_assert_not(cm_rules_may_match(&rules, "long_pre"));
	cr_assert_not(cm_rules_may_match(&rules, ""));
	cr_assert_not(cm_rules_may_match(&rules, "_ZN1a1bEv"));
	demangled = parse_good(&arena, "!c::d\n\"a::b()\"\n");
	cr_assert(cm_rules_may_match(&demangled, "_ZN1a1bEv"));
	cr_assert_not(cm_rules_may_match(&demangled, "ab"));
	demangled = parse_good(&arena, "!c::d\nf\n");
	cr_assert_not(cm_rules_may_match(&demangled, "_ZN1a1bEv"), "only excluded by that name");
	arena_release(&arena);
}

struct glob_row {
	char pattern[24];
	char string[24];
	bool matches;
};

static const struct glob_row glob_rows[] = {
	{"", "", true},
	{"", "a", false},
	{"*", "", true},
	{"*", "abc", true},
	{"**", "", true},
	{"?", "", false},
	{"?", "a", true},
	{"a*", "a", true},
	{"a*", "ba", false},
	{"*a", "ba", true},
	{"*a", "ab", false},
	{"a*b*c", "aXbYbZc", true},
	{"a*b*c", "aXbYbZ", false},
	{"*ab*", "aab", true},
	{"*?b", "b", false},
	{"*.so*", "x.so.1", true},
	{".*", ".x", true},
	{"*", "/a/.b", true},
	{"[a-c]", "b", true},
	{"[a-c]", "d", false},
	{"[!a-c]", "d", true},
	{"[!a-c]", "b", false},
	{"[^a]", "b", true},
	{"[^a]", "a", false},
	{"[]]", "]", true},
	{"[!]]", "]", false},
	{"[!]]", "a", true},
	{"[a-]", "-", true},
	{"[-a]", "-", true},
	{"[a-]", "b", false},
	{"[\\]]", "]", true},
	{"[\\]a]x", "ax", true},
	{"[a\\-c]", "b", false},
	{"[a\\-c]", "-", true},
	{"[a-\\c]", "b", true},
	{"[ac-e]f", "df", true},
	{"[a-c]*[x-z]", "bqy", true},
	{"[a-c]*[x-z]", "bq", false},
	{"[!a]", "", false},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"\\a", "a", true},
	{"a\\?", "a?", true},
	{"a\\?", "ab", false},
	{"\\\\", "\\", true},
	{"*[b]", "aab", true},
	{"*[b]", "aac", false},
	{"*\xc3\xa9", "\xc3\xa9", true},
	{"[\x80-\xff]", "\xc3", true},
	{"[\x80-\xff]", "a", false},
	{"a[", "a[", true},
	{"[x", "[x", true},
	{"[x", "x", false},
	{"a\\", "a\\", true},
	{"[!", "[!", true},
	{"*[a-", "z[a-", true},
	{"[a\\", "[a\\", true},
};

Test(rules_find, globs_match_as_documented)
{
	for (size_t i = 0; i < N_ROWS(glob_rows); i++)
		cr_assert_eq(cm_rules_glob(glob_rows[i].pattern, glob_rows[i].string),
			     glob_rows[i].matches, "%s %s", glob_rows[i].pattern,
			     glob_rows[i].string);
}

static void fill_glob(char *pattern, size_t n_stars, char *string, size_t n_string)
{
	for (size_t i = 0; i < n_stars; i++)
		memcpy(pattern + 2 * i, "*a", 2);
	memcpy(pattern + 2 * n_stars, "*b", 3);
	memset(string, 'a', n_string);
	string[n_string] = '\0';
}

Test(rules_find, many_stars_do_not_multiply_their_time, .timeout = 20)
{
	static char pattern[4096];
	static char string[20001];

	fill_glob(pattern, 1000, string, 20000);
	cr_assert_not(cm_rules_glob(pattern, string));
	string[19999] = 'b';
	cr_assert(cm_rules_glob(pattern, string));
}

static const char forbidden[][32] = {
	"setjmp",
	"_setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"longjmp",
	"_longjmp",
	"siglongjmp",
	"__longjmp_chk",
	"vfork",
	"__tls_get_addr",
	"_dl_sym",
	"_dl_tlsdesc_dynamic",
	"_dl_",
	"_Unwind_Resume",
	"_Unwind_RaiseException",
	"__cxa_throw",
	"__cxa_rethrow",
	"__cxa_begin_catch",
	"__cxa_end_catch",
	"__cxa_allocate_exception",
	"__cxa_free_exception",
	"getcontext",
	"setcontext",
	"swapcontext",
	"makecontext",
	"savectx",
	"__libc_start_main",
	"mcount",
	"_mcount",
	"__fentry__",
	"__morestack",
	"__morestack_non_split",
	"dlopen",
	"dlmopen",
	"dlsym",
	"dlvsym",
	"dlclose",
	"dlerror",
	"dladdr",
	"dladdr1",
	"dlinfo",
	"dl_iterate_phdr",
	"__gxx_personality_v0",
	"__gcc_personality_v0",
	"rust_eh_personality",
	"__stack_chk_fail",
	"_start",
	"_init",
	"_fini",
};

Test(rules_find, forbidden_names_have_a_reason)
{
	static const char allowed[][32] = {
		"pthread_exit",
		"fork",
		"malloc",
		"",
		"setjmp2",
		"mysetjmp",
		"_dl",
		"dlopen2",
		"personality",
		"__cxa_atexit",
		"__cxa_finalize",
		"_Unwind",
		"main",
		"clone",
		"__cxa_throw_bad_array_new_length",
		"_exit",
		"exit",
		"start",
	};

	for (size_t i = 0; i < N_ROWS(forbidden); i++) {
		const char *reason = cm_rules_forbidden(forbidden[i]);

		cr_assert_not_null(reason, "%s", forbidden[i]);
		cr_assert_gt(strlen(reason), 10u);
	}
	for (size_t i = 0; i < N_ROWS(allowed); i++)
		cr_assert_null(cm_rules_forbidden(allowed[i]), "%s", allowed[i]);
}

Test(rules_find, variadic_functions_get_more_stack)
{
	static const char variadic[][24] = {
		"printf",  "fprintf", "__printf_chk",	 "__snprintf_chk",  "asprintf",
		"wprintf", "scanf",   "__isoc99_sscanf", "fwscanf",	    "execl",
		"execlp",  "execle",  "syslog",		 "__syslog_chk",    "err",
		"warnx",   "error",   "BIO_printf",	 "sqlite3_mprintf", "PyErr_Format",
	};
	static const char others[][24] = {
		"vprintf",
		"__vsnprintf_chk",
		"g_strdup_vprintf",
		"vsscanf",
		"execv",
		"puts",
		"",
		"sqlite3_vmprintf",
		"vsyslog",
		"verr",
		"_",
		"_chk",
		"printf_init",
	};
	struct arena arena = {0};
	struct cm_rules rules = parse_good(&arena, "*\n* stack-args=16\n");

	for (size_t i = 0; i < N_ROWS(variadic); i++) {
		cr_assert_eq(cm_rules_stack_bytes(&rules.rules[0], variadic[i]), 4096u, "%s",
			     variadic[i]);
		cr_assert_eq(cm_rules_stack_bytes(&rules.rules[1], variadic[i]), 16u);
	}
	for (size_t i = 0; i < N_ROWS(others); i++)
		cr_assert_eq(cm_rules_stack_bytes(&rules.rules[0], others[i]), 512u, "%s",
			     others[i]);
	arena_release(&arena);
}

/* A search that is linear in the rules takes 5,000,000,000 comparisons for this. */
Test(rules_find, questions_do_not_cost_more_with_many_rules, .timeout = 15)
{
	size_t n_room = 4u << 20;
	char *text = malloc(n_room);
	struct arena arena = {0};
	struct cm_rules rules;
	size_t n = 0;

	cr_assert_not_null(text);
	for (unsigned int i = 0; i < 50000; i++)
		n += (size_t)snprintf(text + n, n_room - n, "some_function_%u\n", i);
	rules = parse_good(&arena, text);
	for (unsigned int i = 0; i < 100000; i++) {
		char symbol[40];

		(void)snprintf(symbol, sizeof(symbol), "some_library_%u", i);
		cr_assert_not(cm_rules_may_match(&rules, symbol));
	}
	arena_release(&arena);
	free(text);
}
