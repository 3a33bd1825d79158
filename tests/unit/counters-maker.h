/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters made by hand, for the tests of cli/. */
#ifndef CALLMARK_TESTS_COUNTERS_MAKER_H
#define CALLMARK_TESTS_COUNTERS_MAKER_H

#include <math.h>

#include "collector/profile.h"

static const char *const mem_events[] = {"INSTR", "CAS", "CAS", "ENERGY"};
static const char *const mem_counters[] = {"FIXC0", "MBOX0C0", "MBOX1C0", "PWR0"};
static const char *const mem_metrics[] = {"CPI", "Bandwidth", "CPI"};
static const int64_t three_cpus[] = {4, 0, 7};
static const double three_times[] = {0.5, 2.25, 9};
static const int64_t three_counts[] = {3, 5, 0};
/* By event, then by hardware thread; the third one did not enter the region. */
static const double mem_values[] = {100, 20, 1000, 1, 2, 1000, 3, 4, 1000, 0.5, 0.25, NAN};
static const double mem_metric_values[] = {1, 2, NAN, 10, 40, NAN, NAN, 5, NAN};

/* A region of group MEM on three hardware threads of which two entered it. */
static inline struct cm_profile_counters make_mem(const char *tag)
{
	return (struct cm_profile_counters){
		.tag = tag,
		.group_id = 1,
		.group_name = "MEM",
		.source = "full_api",
		.event_names = mem_events,
		.counter_names = mem_counters,
		.metric_names = mem_metrics,
		.n_events = 4,
		.n_metrics = 3,
		.n_cpus = 3,
		.cpus = three_cpus,
		.times = three_times,
		.call_counts = three_counts,
		.events = mem_values,
		.metrics = mem_metric_values,
	};
}

static const char *const file_events[] = {"event_0", "event_1", "INSTR"};
static const double file_values[] = {7, 8, 9};

/* As our parser of the marker file leaves it: no counters, no metrics, one hardware thread. */
static inline struct cm_profile_counters make_file(const char *tag)
{
	return (struct cm_profile_counters){
		.tag = tag,
		.group_id = 1,
		.group_name = "MEM",
		.source = "marker_file",
		.event_names = file_events,
		.n_events = 3,
		.n_cpus = 1,
		.cpus = three_cpus,
		.times = three_times,
		.call_counts = three_counts,
		.events = file_values,
	};
}

#endif
