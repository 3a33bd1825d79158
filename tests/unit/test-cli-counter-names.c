/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/counter-names.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/counters-maker.h"

static void expect_names(const struct cm_counter_names *names, enum cm_counter_kind kind,
			 const char *const *expected, size_t n)
{
	size_t i;

	cr_assert_eq(names->n[kind], n);
	for (i = 0; i < n; i++)
		cr_expect_str_eq(names->names[kind][i], expected[i]);
}

Test(counter_names, tells_repeated_events_apart_by_their_counters)
{
	static const char *const events[] = {"INSTR", "CAS:MBOX0C0", "CAS:MBOX1C0", "ENERGY"};
	static const char *const metrics[] = {"CPI", "Bandwidth", "CPI#2"};
	struct cm_profile_counters counters = make_mem("a");
	struct cm_counter_names names = {0};
	size_t layout;

	cr_assert_eq(cm_counter_names_add(&names, &counters, &layout, NULL), 0);
	expect_names(&names, CM_COUNTER_EVENT, events, 4);
	expect_names(&names, CM_COUNTER_METRIC, metrics, 3);
	cr_expect_str_eq(cm_counter_labels(&names, layout, CM_COUNTER_EVENT)[2], "CAS:MBOX1C0");
	cm_counter_names_fini(&names);
}

Test(counter_names, joins_regions_whose_names_differ)
{
	static const char *const events[] = {"event_0",	    "event_1",	   "INSTR",
					     "CAS:MBOX0C0", "CAS:MBOX1C0", "ENERGY"};
	struct cm_profile_counters file = make_file("a"), mem = make_mem("b");
	struct cm_counter_names names = {0};
	size_t of_file, of_mem;

	cr_assert_eq(cm_counter_names_add(&names, &file, &of_file, NULL), 0);
	cr_assert_eq(cm_counter_names_add(&names, &mem, &of_mem, NULL), 0);
	expect_names(&names, CM_COUNTER_EVENT, events, 6);
	/* INSTR is the first event of one and the third of the other. */
	cr_expect_eq(cm_counter_values(&names, of_mem, &mem, CM_COUNTER_EVENT, 2), mem_values);
	cr_expect_eq(cm_counter_values(&names, of_file, &file, CM_COUNTER_EVENT, 2),
		     file_values + 2);
	cr_expect_eq(cm_counter_values(&names, of_mem, &mem, CM_COUNTER_EVENT, 5), mem_values + 9);
	cr_expect_null(cm_counter_values(&names, of_mem, &mem, CM_COUNTER_EVENT, 0));
	cr_expect_null(cm_counter_values(&names, of_file, &file, CM_COUNTER_EVENT, 4));
	cr_expect_null(cm_counter_values(&names, of_file, &file, CM_COUNTER_METRIC, 0));
	cr_expect_eq(cm_counter_values(&names, of_mem, &mem, CM_COUNTER_METRIC, 2),
		     mem_metric_values + 6);
	cm_counter_names_fini(&names);
}

Test(counter_names, shares_a_layout_between_regions_of_the_same_names)
{
	struct cm_profile_counters first = make_mem("a"), second = make_mem("b");
	struct cm_profile_counters other = make_mem("c");
	const char *copies[4];
	struct cm_counter_names names = {0};
	size_t layout, i;

	for (i = 0; i < 4; i++)
		copies[i] = strdup(mem_events[i]);
	second.event_names = copies;
	other.counter_names = mem_events;
	cr_assert_eq(cm_counter_names_add(&names, &first, &layout, NULL), 0);
	cr_assert_eq(cm_counter_names_add(&names, &second, &layout, NULL), 0);
	cr_expect_eq(names.n_layouts, 1);
	cr_assert_eq(cm_counter_names_add(&names, &other, &layout, NULL), 0);
	cr_expect_eq(names.n_layouts, 2);
	cr_expect_eq(layout, 1);
	cm_counter_names_fini(&names);
	for (i = 0; i < 4; i++)
		free((char *)(uintptr_t)copies[i]);
}

Test(counter_names, is_empty_without_events_and_metrics)
{
	struct cm_profile_counters nothing = {.tag = "a", .group_name = "", .source = ""};
	struct cm_counter_names names = {0};
	size_t layout;

	cr_assert_eq(cm_counter_names_add(&names, &nothing, &layout, NULL), 0);
	cr_expect_eq(names.n[CM_COUNTER_EVENT] + names.n[CM_COUNTER_METRIC], 0);
	cm_counter_names_fini(&names);
}
