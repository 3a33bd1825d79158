/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm_measure_counters() with what only callmark's own worker process may ask for.
 *
 * Threads and errors: as callmark/measure.h says.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_WINDOW_H
#define CALLMARK_COLLECTOR_MEASURE_WINDOW_H

#include <stdbool.h>

#include "collector/callmark/measure.h"

struct cm_window_options {
	/* In access mode PERF without LIKWID_PERF_PID: set it to this process. */
	bool may_set_perf_pid;
};

int cm_window_measure(int (*fn)(void *ctx), void *ctx, const struct cm_declaration *declaration,
		      const struct cm_window_options *options, struct cm_counter_result *result);

#endif
