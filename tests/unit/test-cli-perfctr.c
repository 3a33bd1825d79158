/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/perfctr.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What likwid-perfctr 5.2.2 printed in each case. */
struct row {
	char log[320];
	char expected[100];
};

static struct row rows[] = {
	{"ERROR - [./src/perfgroup.c:perfgroup_readGroup:860] No such file or directory.\n"
	 "Cannot read group file NOSUCH.txt. Searched in /usr/share/likwid/perfgroups/zen3/\n"
	 "Access to performance group NOSUCH not allowed\n",
	 "-g NOSUCH: LIKWID has no group of that name"},
	{"WARN: Event NOSUCH not found for current architecture\n"
	 "ERROR: No event in given event string can be configured.\n"
	 "       Either the events or counters do not exist for the\n",
	 "-g CLOCK -g NOSUCH: none of its events can be counted"},
	{"CPU 7 not in domain N.\n"
	 "CPUs given on commandline are not valid in current environment, maybe it's limited by a "
	 "cpuset.\n",
	 "-C 7: LIKWID finds no such CPUs"},
	{"List of CPUs is not unique, got two times CPU 0\n", "-C 7: a CPU is named twice"},
	{"-----\nCannot get access to MSRs. Please check permissions to the MSRs\n",
	 "no access to the counters"},
	{"ERROR - [./src/perfmon.c:perfmon_init_maps:1162] Unsupported Processor\n",
	 "this LIKWID does not support this CPU"},
	{"-----\nsomething new\n\n-----\n", "/lp ended with status 1 and says 'something new'"},
	{"", "/lp ended with status 1 and says ''"},
};

static const char *const groups[] = {"CLOCK", "NOSUCH"};
static const struct cm_perfctr_request request = {
	.path = "/lp", .groups = groups, .n_groups = 2, .cpus = "7", .pin = true};

ParameterizedTestParameters(perfctr, a_refusal_is_said_in_our_words)
{
	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, perfctr, a_refusal_is_said_in_our_words)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_perfctr_explain(row->log, 1 << 8, &request, &diag), -EPROTO);
	cr_assert(strstr(diag.text, row->expected) == diag.text, "%s", diag.text);
}

Test(perfctr, its_death_is_told)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_perfctr_explain("CPU type: nil\n", 11, &request, &diag), -EPROTO);
	cr_assert_str_eq(diag.text, "/lp died: Segmentation fault");
}

Test(perfctr, half_an_environment_is_seen)
{
	const char *set, *missing;

	unsetenv("LIKWID_MODE");
	unsetenv("LIKWID_THREADS");
	unsetenv("LIKWID_FILEPATH");
	unsetenv("LIKWID_EVENTS");
	cm_perfctr_look_around(&set, &missing);
	cr_assert(!set && missing);
	setenv("LIKWID_EVENTS", "CLOCK", 1);
	cm_perfctr_look_around(&set, &missing);
	cr_assert_str_eq(set, "LIKWID_EVENTS");
	cr_assert(missing);
	setenv("LIKWID_MODE", "1", 1);
	setenv("LIKWID_THREADS", "0", 1);
	setenv("LIKWID_FILEPATH", "/f", 1);
	cm_perfctr_look_around(&set, &missing);
	cr_assert(set && !missing);
}
