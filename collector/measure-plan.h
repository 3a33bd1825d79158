/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A declaration that was looked at: every refusal of the caller's is here, before any native call.
 *
 *	rc = cm_measure_plan_make(&plan, declaration, &arena, &diag);
 *	plan.events[0].name, plan.events[0].unit, plan.cpus[0]
 *
 * In this order: all three parts are there; the event set's syntax; no event or counter twice; the
 * CPUs; the units; the calling thread's affinity. Errors: -EINVAL and a line; -ENOMEM.
 * Threads: any, each its own arena.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_PLAN_H
#define CALLMARK_COLLECTOR_MEASURE_PLAN_H

#include <stddef.h>

#include "collector/arena.h"
#include "collector/callmark/measure.h"
#include "preload/diag.h"

#define CM_UNIT_MAX_BYTES 128u

struct cm_measure_event {
	const char *name;
	const char *counter;
	const char *unit;
};

struct cm_measure_plan {
	const char *event_set;
	const struct cm_measure_event *events;
	size_t n_events;
	const int *cpus;
	size_t n_cpus;
	const int *allowed; /* the affinity */
	size_t n_allowed;
};

int cm_measure_plan_make(struct cm_measure_plan *plan, const struct cm_declaration *declaration,
			 struct cm_arena *arena, struct cm_diag *diag);

#endif
