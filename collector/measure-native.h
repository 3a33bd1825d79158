/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's side of one window, step by step. Every step that is refused leaves a reason; what was
 * initialised is known and given back in cm_native_close(), whatever went wrong.
 *
 *	cm_native_load(&native, &refusal)          not twice in a process
 *	cm_native_find_owner(&native, &refusal)    somebody else's state: hands off
 *	cm_native_open(&native, plan, &refusal)    topology to perfmon, event set, its identity
 *	cm_native_start(&native, plan, &refusal)   set up, looked at, started
 *	... the window ...
 *	cm_native_stop(&native, &diag)
 *	cm_native_read(&native, plan, values, &seconds, &diag)
 *	cm_native_close(&native, &diag)
 *
 * The same sequence up to open is tried in a child first (measure-trial.h).
 * Threads: one at a time (measure-window.c sees to it). Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_NATIVE_H
#define CALLMARK_COLLECTOR_MEASURE_NATIVE_H

#include <stdbool.h>

#include "collector/likwid-library.h"
#include "collector/measure-plan.h"

/* Reasons of `unavailable`, in the order in which they are found. X(enumerator, name) */
#define CM_REFUSALS(X)                                         \
	X(CM_REFUSED_NOT, "")                                  \
	X(CM_REFUSED_PLATFORM, "unsupported_platform")         \
	X(CM_REFUSED_PERF_PID, "foreign_or_invalid_perf_pid")  \
	X(CM_REFUSED_LIBRARY, "library_unavailable")           \
	X(CM_REFUSED_OWNED, "native_state_already_owned")      \
	X(CM_REFUSED_ACCESS_MODE, "access_mode_unknown")       \
	X(CM_REFUSED_INITIALIZATION, "initialization_refused") \
	X(CM_REFUSED_EVENT_SET, "event_set_refused")           \
	X(CM_REFUSED_EVENT_SET_CHANGED, "event_set_changed")   \
	X(CM_REFUSED_EVENT_IDENTITY, "event_identity_changed") \
	X(CM_REFUSED_SETUP, "setup_refused")                   \
	X(CM_REFUSED_START, "start_refused")

enum cm_refusal_reason {
#define CM_REFUSAL_ENUM(enumerator, name) enumerator,
	CM_REFUSALS(CM_REFUSAL_ENUM)
#undef CM_REFUSAL_ENUM
		CM_N_REFUSALS,
};

/* Also shared with the trial's child. */
struct cm_refusal {
	enum cm_refusal_reason reason;
	struct cm_diag diag; /* the detail */
};

const char *cm_refusal_name(enum cm_refusal_reason reason);

struct cm_native {
	struct cm_likwid likwid;
	enum cm_access_mode access_mode;
	int group;
	size_t n_events; /* of the group, with what the back end has added */
	char cpu_name[256];
	const char *step; /* the call that is being made */
	bool owns_topology;
	bool owns_numa;
	bool owns_affinity;
	bool owns_timer;
	bool owns_perfmon;
	bool is_started;
};

/* Each: 0, or -ENODEV with the refusal filled. */
int cm_native_load(struct cm_native *native, struct cm_refusal *refusal);
int cm_native_find_owner(struct cm_native *native, struct cm_refusal *refusal);
int cm_native_configure(struct cm_native *native, struct cm_refusal *refusal);
int cm_native_open(struct cm_native *native, const struct cm_measure_plan *plan,
		   struct cm_refusal *refusal);
int cm_native_start(struct cm_native *native, const struct cm_measure_plan *plan,
		    struct cm_refusal *refusal);

/* -EIO and a line. Nothing happens where it is not started. */
int cm_native_stop(struct cm_native *native, struct cm_diag *diag);

/* values[cpu * n_events + event], n_events of the plan. -EIO and a line. */
int cm_native_read(const struct cm_native *native, const struct cm_measure_plan *plan,
		   double *values, double *ret_seconds, struct cm_diag *diag);

/* Event i >= plan->n_events: the names of what was added. Owned by LIKWID, until close. */
const char *cm_native_event(const struct cm_native *native, size_t i);
const char *cm_native_counter(const struct cm_native *native, size_t i);

/* Everything that is owned; all steps are taken. -EIO and a line where some state stayed. */
int cm_native_close(struct cm_native *native, struct cm_diag *diag);

#endif
