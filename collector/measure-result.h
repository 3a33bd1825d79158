/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling a struct cm_counter_result, whose memory is an arena behind its `owned`.
 *
 *	cm_measure_result_init(result);
 *	cm_measure_result_plan(result, &plan); ...
 *	return cm_measure_result_end(result, rc, &diag);
 *
 * Threads: one at a time. Errors: -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_RESULT_H
#define CALLMARK_COLLECTOR_MEASURE_RESULT_H

#include "collector/measure-native.h"

/* Empty, failed, with an arena. */
int cm_measure_result_init(struct cm_counter_result *result);
struct cm_arena *cm_measure_result_arena(struct cm_counter_result *result);

/* CPUs and affinity, which are the plan's (borrowed: the plan is in the arena), and LIKWID_*. */
int cm_measure_result_plan(struct cm_counter_result *result, const struct cm_measure_plan *plan);

int cm_measure_result_set_library(struct cm_counter_result *result, const char *path);

/* What an open LIKWID says: CPU, added events. */
int cm_measure_result_note(struct cm_counter_result *result, const struct cm_native *native,
			   const struct cm_measure_plan *plan);

/* Records, CPU by CPU. */
int cm_measure_result_fill(struct cm_counter_result *result, const struct cm_measure_plan *plan,
			   const double *values, double seconds);

/* Unavailable, with this reason. Returns 0. */
int cm_measure_result_refuse(struct cm_counter_result *result, const struct cm_refusal *refusal);

/* Complete where rc is 0, else failed without records. Returns rc. */
int cm_measure_result_end(struct cm_counter_result *result, int rc, const struct cm_diag *diag);

#endif
