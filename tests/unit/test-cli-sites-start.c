/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sites-start.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/rule-set.h"

static char folder[] = "/tmp/test-cli-sites-XXXXXX";
static char helper[PATH_MAX];
static struct cm_supervise supervise;
static struct cm_diag diag;

static void begin(void)
{
	cr_assert_not_null(mkdtemp(folder));
	snprintf(helper, sizeof(helper), "%s/callmark-sites", folder);
	cm_supervise_init(&supervise);
}

static void end(void)
{
	cm_supervise_fini(&supervise);
	unlink(helper);
	cr_assert_eq(rmdir(folder), 0);
}

TestSuite(sites_start, .init = begin, .fini = end, .timeout = 20);

/* A helper that does what the script says. */
static int start(const char *script, struct cm_sites_request *request)
{
	static const char *const objects[] = {"/one", "/two"};
	FILE *file = fopen(helper, "w");

	cr_assert_not_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", script);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(chmod(helper, 0700), 0);
	request->path = helper;
	return cm_sites_start(&supervise, request, objects, 2, &diag);
}

Test(sites_start, hands_over_rules_caches_and_objects_in_order)
{
	struct cm_sites_request request = {
		.config = "rules.txt", .symbols = "a internal=yes;b", .folders = {"c1", "c2"}};

	cr_assert_eq(start("echo \"$*\"; exit 1", &request), 1);
	cr_assert_str_eq(diag.text, "--config rules.txt --symbols a internal=yes;b --cache c1 "
				    "--cache c2 -- /one /two");
}

Test(sites_start, leaves_out_what_is_not_given)
{
	struct cm_sites_request request = {.symbols = "a", .output = "file"};

	cr_assert_eq(start("echo \"$*\"; exit 1", &request), 1);
	cr_assert_str_eq(diag.text, "--symbols a --output file -- /one /two");
}

Test(sites_start, is_not_profiled_itself)
{
	struct cm_sites_request request = {0};

	setenv("LD_AUDIT", "", 1);
	setenv("LD_PRELOAD", "", 1);
	cr_assert_eq(start("test -z \"${LD_PRELOAD+set}${LD_AUDIT+set}\"", &request), 0);
	cr_assert_str_empty(diag.text);
}

Test(sites_start, the_first_of_several_errors_is_told)
{
	struct cm_sites_request request = {0};

	cr_assert_eq(
		start("echo 'callmark-sites: /one: damaged' >&2; echo b; echo c; exit 1", &request),
		1);
	cr_assert_str_eq(diag.text, "/one: damaged (and 2 more)");
}

Test(sites_start, a_failure_without_words_is_told)
{
	struct cm_sites_request request = {0};

	cr_assert_eq(start("exit 2", &request), 1);
	cr_assert_str_eq(diag.text, "callmark-sites failed and does not say why");
}

Test(sites_start, a_crash_is_told)
{
	struct cm_sites_request request = {0};

	cr_assert_eq(start("kill -SEGV $$", &request), -EIO);
	cr_assert_not_null(strstr(diag.text, "callmark-sites: Segmentation fault"));
}

Test(sites_start, a_pending_signal_ends_it)
{
	struct cm_sites_request request = {0};

	raise(SIGTERM); /* blocked since init */
	cr_assert_eq(start("sleep 100", &request), -EINTR);
	cr_assert_str_empty(diag.text);
	signal(SIGTERM, SIG_IGN);
}

struct row {
	char rules[48];
	char name[24];
	bool is_wanted;
};

static struct row rows[] = {
	{"* internal=yes", "solver", true},
	{"* internal=yes", "libm.so.6", true},
	{"* internal=yes", "ld-linux-x86-64.so.2", false},
	{"* internal=yes", "libcallmark-preload.so", false},
	{"* internal=yes", "liblikwid.so.5.2", false},
	{"*", "solver", false},
	{"libm.so*:* internal=yes", "libm.so.6", true},
	{"libm.so*:* internal=yes", "solver", false},
	{"solver.c:* internal=yes", "solver", true},
	{"solver.c:* internal=yes", "libm.so.6", true},
	{"a;libz*:b internal=yes", "libm.so.6", true},
	{"libz.so*:b internal=yes;libm.so*:c", "libm.so.6", false},
};

ParameterizedTestParameters(sites_start, only_objects_that_a_rule_can_match)
{
	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, sites_start, only_objects_that_a_rule_can_match)
{
	struct cm_rule_set set;

	cr_assert_eq(cm_rule_set_load(&set, NULL, row->rules, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_sites_is_wanted(&set.rules, row->name), row->is_wanted, "%s of %s",
		     row->name, row->rules);
	cm_rule_set_fini(&set);
}

Test(sites_start, the_library_closure_is_chosen_from)
{
	struct cm_rule_set set;
	struct cm_closure closure;
	const char **paths = NULL;
	size_t n = 0;

	cr_assert_eq(cm_rule_set_load(&set, NULL, "libc.so*:* internal=yes", &diag), 0);
	cr_assert_eq(cm_closure_load(&closure, "/bin/sh", &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_sites_choose(&closure, &set.rules, &paths, &n), 0);
	cr_assert_eq(n, 1);
	cr_assert_not_null(strstr(paths[0], "/libc.so.6"));
	free(paths);
	cm_closure_fini(&closure);
	cm_rule_set_fini(&set);
}
