/* SPDX-License-Identifier: BSD-3-Clause */
/* Every refusal of a declaration, with its text, and the order in which they come. */
#include "collector/measure-plan.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct cm_arena arena;
static struct cm_measure_plan plan;
static struct cm_diag diag;

static int make(const char *event_set, const int *cpus, size_t n_cpus,
		const struct cm_event_unit *units, size_t n_units)
{
	struct cm_declaration declaration = {.event_set = event_set,
					     .cpuids = cpus,
					     .n_cpuids = n_cpus,
					     .units = units,
					     .n_units = n_units};

	diag.text[0] = '\0';
	return cm_measure_plan_make(&plan, &declaration, &arena, &diag);
}

/* On a CPU of ours, each event with the unit 1. */
static int make_set(const char *event_set)
{
	struct cm_event_unit units[] = {{"A", "1"}, {"B", "1"}};
	int cpu = sched_getcpu();

	return make(event_set, &cpu, 1, units, strchr(event_set, ',') ? 2 : 1);
}

static void free_arena(void)
{
	cm_arena_fini(&arena);
}

TestSuite(measure_plan, .fini = free_arena);

Test(measure_plan, keeps_events_cpus_and_units_in_their_order)
{
	struct cm_event_unit units[] = {{"INSTR_RETIRED_ANY", "1"}, {"B_2", "MBytes/s"}};
	int cpu = sched_getcpu();

	cr_assert_eq(make("B_2:PMC12,INSTR_RETIRED_ANY:FIXC0", &cpu, 1, units, 2), 0, "%s",
		     diag.text);
	cr_assert_eq(plan.n_events, 2);
	cr_assert_str_eq(plan.events[0].name, "B_2");
	cr_assert_str_eq(plan.events[0].counter, "PMC12");
	cr_assert_str_eq(plan.events[0].unit, "MBytes/s");
	cr_assert_str_eq(plan.events[1].name, "INSTR_RETIRED_ANY");
	cr_assert_str_eq(plan.events[1].counter, "FIXC0");
	cr_assert_eq(plan.n_cpus, 1);
	cr_assert_eq(plan.cpus[0], cpu);
	cr_assert_geq(plan.n_allowed, 1);
}

Test(measure_plan, needs_all_three_parts)
{
	struct cm_event_unit unit = {"A", "1"};
	int cpu = sched_getcpu();

	cr_assert_eq(make(NULL, NULL, 0, NULL, 0), -EINVAL);
	cr_assert_str_eq(diag.text,
			 "event_set is missing: event_set, cpuids and units are all needed");
	cr_assert_eq(make("", NULL, 0, &unit, 1), -EINVAL);
	cr_assert_str_eq(diag.text,
			 "cpuids is missing: event_set, cpuids and units are all needed");
	cr_assert_eq(make("bad", &cpu, 1, NULL, 0), -EINVAL);
	cr_assert_str_eq(diag.text, "units is missing: event_set, cpuids and units are all needed");
}

struct set_row {
	char set[48];
	char text[128];
};

#define MISSING "event_set: an event is missing before, after or between commas"
#define NAME ": an event's name has upper-case letters, digits and '_', a letter first"
#define COUNTER ": the counter is not FIXC<n> or PMC<n>"

ParameterizedTestParameters(measure_plan, refuses_what_is_no_event_set)
{
	static struct set_row rows[] = {
		{"", "event_set is empty"},
		{",", MISSING},
		{"A:PMC0,", MISSING},
		{",A:PMC0", MISSING},
		{"A:PMC0,,B:PMC1", MISSING},
		{"A:PMC0\n", "event_set: \"A:PMC0?\" has a blank or a newline"},
		{" A:PMC0", "event_set: \" A:PMC0\" has a blank or a newline"},
		{"A:PMC0, B:PMC1", "event_set: \" B:PMC1\" has a blank or a newline"},
		{"A: PMC0", "event_set: \"A: PMC0\" has a blank or a newline"},
		{"FLOPS_DP", "event_set: \"FLOPS_DP\" has no counter: write EVENT:COUNTER (groups "
			     "are not taken)"},
		{"a:PMC0", "event_set: \"a:PMC0\"" NAME},
		{"1A:PMC0", "event_set: \"1A:PMC0\"" NAME},
		{"_A:PMC0", "event_set: \"_A:PMC0\"" NAME},
		{"A-B:PMC0", "event_set: \"A-B:PMC0\"" NAME},
		{":PMC0", "event_set: \":PMC0\"" NAME},
		{"A:PMC0:EDGEDETECT", "event_set: \"A:PMC0:EDGEDETECT\": options of events are not "
				      "taken"},
		{"A:PMC0:", "event_set: \"A:PMC0:\": options of events are not taken"},
		{"A:MBOX0C0", "event_set: \"A:MBOX0C0\"" COUNTER},
		{"A:PMC", "event_set: \"A:PMC\"" COUNTER},
		{"A:FIXC", "event_set: \"A:FIXC\"" COUNTER},
		{"A:PMC00", "event_set: \"A:PMC00\"" COUNTER},
		{"A:PMC0x", "event_set: \"A:PMC0x\"" COUNTER},
		{"A:pmc0", "event_set: \"A:pmc0\"" COUNTER},
		{"A:", "event_set: \"A:\"" COUNTER},
		{"A:PMC0,A:PMC1", "event_set: the event A is there twice"},
		{"A:PMC0,B:PMC0", "event_set: the counter PMC0 is there twice"},
	};

	return cr_make_param_array(struct set_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct set_row *row, measure_plan, refuses_what_is_no_event_set)
{
	cr_assert_eq(make_set(row->set), -EINVAL);
	cr_assert_str_eq(diag.text, row->text);
	cm_arena_fini(&arena);
}

Test(measure_plan, takes_the_counters_that_there_are)
{
	cr_assert_eq(make_set("A:PMC0,B:FIXC10"), 0, "%s", diag.text);
	cr_assert_eq(make_set("A:PMC10"), 0, "%s", diag.text);
}

Test(measure_plan, refuses_cpus_that_are_none)
{
	struct cm_event_unit unit = {"A", "1"};
	int negative[] = {0, -1}, twice[] = {3, 1, 3}, none[] = {0}, last[] = {INT32_MAX};

	cr_assert_eq(make("A:PMC0", none, 0, &unit, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "cpuids is empty");
	cr_assert_eq(make("A:PMC0", negative, 2, &unit, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "cpuids: -1 is no CPU");
	cr_assert_eq(make("A:PMC0", twice, 3, &unit, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "cpuids: CPU 3 is there twice");
	cr_assert_eq(make("A:PMC0", last, 1, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "CPU 2147483647 is not in the calling thread's affinity ("));
}

Test(measure_plan, refuses_a_cpu_outside_of_the_affinity)
{
	struct cm_event_unit unit = {"A", "1"};
	cpu_set_t one;
	int cpu = sched_getcpu(), other = cpu + 1;
	char text[128];

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	cr_assert_eq(make("A:PMC0", &cpu, 1, &unit, 1), 0);
	cr_assert_eq(plan.n_allowed, 1);
	cr_assert_eq(plan.allowed[0], cpu);
	cr_assert_eq(make("A:PMC0", &other, 1, &unit, 1), -EINVAL);
	snprintf(text, sizeof(text), "cpuids: CPU %d is not in the calling thread's affinity (%d)",
		 other, cpu);
	cr_assert_str_eq(diag.text, text);
}

Test(measure_plan, needs_a_unit_for_each_event_and_no_other)
{
	struct cm_event_unit units[] = {{"A", "1"}, {"B", "1"}, {"A", "2"}};
	struct cm_event_unit none = {NULL, "1"}, empty = {"A", NULL};
	int cpu = sched_getcpu();

	cr_assert_eq(make("A:PMC0,B:PMC1", &cpu, 1, units, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "units: B has no unit");
	cr_assert_eq(make("A:PMC0", &cpu, 1, units, 2), -EINVAL);
	cr_assert_str_eq(diag.text, "units: \"B\" is no event of event_set");
	cr_assert_eq(make("A:PMC0,B:PMC1", &cpu, 1, units, 3), -EINVAL);
	cr_assert_str_eq(diag.text, "units: A has two units");
	cr_assert_eq(make("A:PMC0", &cpu, 1, &none, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "units: \"\" is no event of event_set");
	cr_assert_eq(make("A:PMC0", &cpu, 1, &empty, 1), -EINVAL);
	cr_assert_str_eq(diag.text, "units: A has no unit");
}

struct unit_row {
	char unit[160];
	int is_good;
};

ParameterizedTestParameters(measure_plan, takes_units_of_the_allowed_characters)
{
	static struct unit_row rows[] = {
		{"1", 1},
		{"cycles", 1},
		{"MBytes/s", 1},
		{"m.s^-2*kg_x", 1},
		{"9a", 1},
		{"", 0},
		{"-1", 0},
		{"/s", 0},
		{"^2", 0},
		{"a b", 0},
		{"%", 0},
		{"a\n", 0},
		{"\xc2\xb5s", 0},
		{"_a", 0},
		{".5", 0},
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 1}, /* 128 */
		{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 0},
	};

	return cr_make_param_array(struct unit_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct unit_row *row, measure_plan, takes_units_of_the_allowed_characters)
{
	struct cm_event_unit unit = {"A", row->unit};
	int cpu = sched_getcpu();

	cr_assert_eq(make("A:PMC0", &cpu, 1, &unit, 1), row->is_good ? 0 : -EINVAL, "\"%s\"",
		     row->unit);
	if (!row->is_good)
		cr_assert(strstr(diag.text, " of A: a letter or digit, then letters, digits and "
					    ". / _ * ^ -, at most 128"));
	cm_arena_fini(&arena);
}

Test(measure_plan, knows_that_instructions_and_cycles_are_counts)
{
	static const char *const names[] = {"INSTR_RETIRED_ANY", "CPU_CLK_UNHALTED_CORE",
					    "CPU_CLK_UNHALTED_REF"};
	int cpu = sched_getcpu();

	for (size_t i = 0; i < 3; i++) {
		struct cm_event_unit unit = {names[i], "s"};
		char set[64], text[128];

		snprintf(set, sizeof(set), "%s:FIXC0", names[i]);
		snprintf(text, sizeof(text), "units: %s is a count, its unit is 1, not s",
			 names[i]);
		cr_assert_eq(make(set, &cpu, 1, &unit, 1), -EINVAL);
		cr_assert_str_eq(diag.text, text);
		unit.unit = "1";
		cr_assert_eq(make(set, &cpu, 1, &unit, 1), 0, "%s", diag.text);
	}
}

/* Everything is wrong; one after the other is put right. */
Test(measure_plan, checks_in_the_order_that_is_promised)
{
	struct cm_event_unit unit = {"X", "s"};
	int cpus[] = {INT32_MAX, INT32_MAX};

	cr_assert_eq(make("a:PMC0", cpus, 2, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, NAME), "%s", diag.text);
	cr_assert_eq(make("A:PMC0,B:PMC0", cpus, 2, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "PMC0 is there twice"), "%s", diag.text);
	cr_assert_eq(make("A:PMC0", cpus, 2, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "CPU 2147483647 is there twice"), "%s", diag.text);
	cr_assert_eq(make("A:PMC0", cpus, 1, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "is no event"), "%s", diag.text);
	unit = (struct cm_event_unit){"A", "%"};
	cr_assert_eq(make("A:PMC0", cpus, 1, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "at most 128"), "%s", diag.text);
	unit.unit = "1";
	cr_assert_eq(make("A:PMC0", cpus, 1, &unit, 1), -EINVAL);
	cr_assert(strstr(diag.text, "affinity"), "%s", diag.text);
}
