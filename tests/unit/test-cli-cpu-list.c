/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/cpu-list.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>

static struct cm_cpu_list list;

struct bad_row {
	char text[24];
	int rc;
};

static struct bad_row bad_rows[] = {
	{"", -EINVAL},
	{",", -EINVAL},
	{"1,", -EINVAL},
	{"-1", -EINVAL},
	{"1-", -EINVAL},
	{"1 2", -EINVAL},
	{"x", -EINVAL},
	{"E:N:2", -EINVAL},
	{"S0:0-3", -EINVAL},
	{"0,0", -EEXIST},
	{"0-3,2", -EEXIST},
	{"1024", -ERANGE},
	{"0-99999999999999999999", -ERANGE},
};

ParameterizedTestParameters(cpu_list, what_is_no_list_is_refused)
{
	return cr_make_param_array(struct bad_row, bad_rows,
				   sizeof(bad_rows) / sizeof(bad_rows[0]));
}

ParameterizedTest(struct bad_row *row, cpu_list, what_is_no_list_is_refused)
{
	int rc = cm_cpu_list_parse(&list, row->text);

	cr_assert_eq(rc, row->rc, "%s: %d", row->text, rc);
}

Test(cpu_list, the_order_is_kept_and_ranges_run_both_ways)
{
	static const unsigned short expected[] = {5, 0, 3, 2, 1};

	cr_assert_eq(cm_cpu_list_parse(&list, "5,0,3-1"), 0);
	cr_assert_eq(list.n, 5u);
	cr_assert_eq(memcmp(list.cpus, expected, sizeof(expected)), 0);
	cr_assert_eq(CPU_COUNT(&list.set), 5);
	cr_assert(CPU_ISSET(5, &list.set) && !CPU_ISSET(4, &list.set));
}

Test(cpu_list, all_cpus_fit)
{
	cr_assert_eq(cm_cpu_list_parse(&list, "0-1023"), 0);
	cr_assert_eq(list.n, (size_t)CPU_SETSIZE);
}

Test(cpu_list, sets_are_written_with_ranges)
{
	char text[64], small[6];

	cr_assert_eq(cm_cpu_list_parse(&list, "9,2,0,1,1023"), 0);
	cm_cpu_list_format(text, sizeof(text), &list.set);
	cr_assert_str_eq(text, "0-2,9,1023");
	cm_cpu_list_format(small, sizeof(small), &list.set);
	cr_assert_str_eq(small, "0-2,9");
	CPU_ZERO(&list.set);
	cm_cpu_list_format(text, sizeof(text), &list.set);
	cr_assert_str_eq(text, "");
}
