/* SPDX-License-Identifier: BSD-3-Clause */
/* May another thread be in code that is about to be changed, or come there meanwhile? */
#include <signal.h>
#include <stdatomic.h>

#include "preload/entries.h"
#include "preload/process.h"
#include "preload/sites.h"
#include "preload/syscall.h"

#define CM_N_SIGNALS 65

static bool has_begun; /* the start of the process is over */
static _Atomic uint32_t n_under_way, n_finished;

/* What the kernel has, as far as it is looked at here. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/*
 * A signal can wake a thread that sleeps. What its handler can come to is its own object, and what
 * that one needs: an object that is being opened has given out no other addresses yet.
 */
static bool can_a_handler_reach(const struct cm_object *object)
{
	for (int i = 1; i < CM_N_SIGNALS; i++) {
		const struct cm_object *handler;
		struct action action = {0};

		/* Traps come from code that runs; the C library's own two, from threads that do. */
		if (i == SIGTRAP || i == 32 || i == 33 ||
		    cm_sys6(SYS_rt_sigaction, i, 0, (long)&action, 8, 0, 0) < 0 ||
		    action.handler <= (uint64_t)SIG_IGN)
			continue;
		handler = cm_object_of((const void *)action.handler);
		if (!handler || handler == object || cm_object_needs(handler, object))
			return true;
	}
	return false;
}

enum cm_danger cm_danger_find(const struct cm_object *object, const struct cm_opening *opening,
			      uint32_t n_finished_since, unsigned int *ms)
{
	struct cm_tasks now;

	cm_tasks_list(&now);
	if (now.n == 1)
		return CM_DANGER_NONE;
	if (has_begun && atomic_load_explicit(&n_under_way, memory_order_seq_cst))
		return CM_DANGER_NOT_YET;
	if (opening && !n_finished_since && object->birth > opening->birth &&
	    !cm_tasks_have_come(&opening->tasks))
		return CM_DANGER_NONE;
	if (!can_a_handler_reach(object)) {
		if (cm_tasks_all_wait(*ms))
			return CM_DANGER_NONE;
		*ms = 0; /* they do not, and have been waited for */
	}
	return !has_begun && object->is_main ? CM_DANGER_EXPORTED : CM_DANGER_ANY;
}

void cm_danger_begin(void)
{
	has_begun = true;
}

void cm_danger_opening(struct cm_opening *opening)
{
	opening->tasks.n = -1;
	if (!atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed))
		cm_tasks_list(&opening->tasks);
	if (opening->tasks.n > 1)
		cm_sites_refresh(false, true); /* what the C library has opened by itself is old */
	opening->birth = cm_object_n_births();
	opening->n_finished = atomic_load_explicit(&n_finished, memory_order_seq_cst);
	atomic_fetch_add_explicit(&n_under_way, 1, memory_order_seq_cst);
}

uint32_t cm_danger_opened(const struct cm_opening *opening)
{
	atomic_fetch_sub_explicit(&n_under_way, 1, memory_order_seq_cst);
	return atomic_fetch_add_explicit(&n_finished, 1, memory_order_seq_cst) -
	       opening->n_finished;
}
