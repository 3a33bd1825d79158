/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/likwid-environment.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>

Test(likwid_environment, takes_a_list_of_cpus_in_its_order)
{
	int cpus[3];

	cr_assert_eq(cm_likwid_parse_cpus("4,0,17", cpus, 3), 3);
	cr_assert_eq(cpus[0], 4);
	cr_assert_eq(cpus[1], 0);
	cr_assert_eq(cpus[2], 17);
	cr_assert_eq(cm_likwid_parse_cpus("0,1,2,3", cpus, 3), -E2BIG);
}

struct text_row {
	char text[40];
	int expected;
};

ParameterizedTestParameters(likwid_environment, refuses_what_is_no_list_of_cpus)
{
	static struct text_row rows[] = {{"", 0},   {",", 0},	{"0,", 0},   {"0-3", 0},
					 {"-1", 0}, {"0 1", 0}, {"S0:0", 0}, {"99999999999", 0}};

	return cr_make_param_array(struct text_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct text_row *row, likwid_environment, refuses_what_is_no_list_of_cpus)
{
	int cpus[8];

	cr_assert_eq(cm_likwid_parse_cpus(row->text, cpus, 8), -EINVAL, "%s", row->text);
}

Test(likwid_environment, splits_groups_at_bars)
{
	char group[8];

	cr_assert_eq(cm_likwid_count_groups(NULL), 0);
	cr_assert_eq(cm_likwid_count_groups(""), 0);
	cr_assert_eq(cm_likwid_count_groups("CLOCK"), 1);
	cr_assert_eq(cm_likwid_count_groups("CLOCK|MEM"), 2);
	cr_assert_eq(cm_likwid_get_group("CLOCK|MEM", 1, group, sizeof(group)), 3);
	cr_assert_str_eq(group, "MEM");
	cr_assert_eq(cm_likwid_get_group("CLOCK|MEM", 0, group, sizeof(group)), 5);
	cr_assert_str_eq(group, "CLOCK");
	cr_assert_eq(cm_likwid_get_group("CLOCK|MEM", 2, group, sizeof(group)), -ENOENT);
	cr_assert_eq(cm_likwid_get_group("CLOCK|FLOPS_DP", 1, group, sizeof(group)), -E2BIG);
	cr_assert_eq(cm_likwid_get_group("CLOCK|", 1, group, sizeof(group)), 0);
}

ParameterizedTestParameters(likwid_environment, knows_what_must_not_be_given_to_likwid)
{
	static struct text_row rows[] = {
		{"FLOPS_DP", 1},    {"L2", 1},	    {"A:PMC0", 1},    {"A:PMC0,B:PMC1", 1},
		{"A:PMC0:E=1", 1},  {"", 0},	    {"FLOPS-DP", 0},  {"../x", 0},
		{"a b", 0},	    {":PMC0", 0},   {"A:", 0},	      {"A:PMC0,", 0},
		{"A:PMC0,,B:C", 0}, {"A:PMC0:", 0}, {"A:PMC0::X", 0}, {",", 0},
		{"A:PMC0,B", 0},    {"A,B", 0},
	};

	return cr_make_param_array(struct text_row, rows, sizeof(rows) / sizeof(*rows));
}

ParameterizedTest(struct text_row *row, likwid_environment, knows_what_must_not_be_given_to_likwid)
{
	cr_assert_eq(cm_likwid_is_sound(row->text), row->expected, "%s", row->text);
}
