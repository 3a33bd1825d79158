/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's set-up tried in a child that is thrown away: it may exit, crash or hang there. No
 * counter is touched; the child ends without finalising anything.
 *
 *	rc = cm_measure_trial(&native, plan, seconds, &refusal);
 *
 * SIGCHLD is sent for the child. Threads: one at a time; other threads of the process may run, a
 * lock of theirs that LIKWID needs in the child ends with the time limit.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_TRIAL_H
#define CALLMARK_COLLECTOR_MEASURE_TRIAL_H

#include "collector/measure-native.h"

#define CM_TRIAL_SECONDS 30u

/*
 * `native` is loaded and nothing else; it stays so. 0: the same steps may be taken here. -ENODEV
 * and the refusal: the child's, or CM_REFUSED_INITIALIZATION when it did not come back.
 */
int cm_measure_trial(const struct cm_native *native, const struct cm_measure_plan *plan,
		     unsigned int seconds, struct cm_refusal *refusal);

/*
 * From now on, a process forked from this one that calls exit() ends at once: LIKWID forks probes
 * that do, and the handlers of the caller's program are not for them.
 */
void cm_measure_guard_exit(void);
void cm_measure_unguard_exit(void);

#endif
