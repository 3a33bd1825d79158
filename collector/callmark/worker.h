/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callmark/worker.h - what a worker object for callmark measure and callmark suite defines
 *
 * SYNOPSIS
 *
 *	#include <callmark/worker.h>
 *	cc -shared -fPIC -o worker.so worker.c
 *	callmark measure --events=INSTR_RETIRED_ANY:FIXC0 --cpus=0 --unit=INSTR_RETIRED_ANY=1
 *worker.so
 *
 * DESCRIPTION
 *
 * A worker is a shared object that is loaded into a fresh process with a deadline. The process
 * inherits environment and CPU affinity; its working directory is the folder of the object, stdin
 * is empty, and the end of what goes to stdout and stderr is kept. In this order:
 *
 *	perf_setup         prepares; not counted
 *	probes             functions named in the declaration, all of them
 *	perf_workload      counted, called once
 *	perf_synchronize   counted: waits for what the workload started
 *	oracle             named in the declaration: is the actual result right?
 *	perf_cleanup       once, whatever happened since perf_setup returned 0
 *
 * Only perf_workload is needed. State and result are the worker's own, callmark hands the pointers
 * on. All return 0 for success, for a probe that holds, and for an oracle that agrees. When
 * perf_setup fails, perf_cleanup is not called: it releases what it has itself. None may leave by
 * longjmp, exception or exit.
 *
 * All of it runs in one thread, the one that has the affinity. LIKWID is not loaded before
 * perf_workload's window opens, and finalised when the oracle is called.
 *
 * EXAMPLE
 *
 *	#include <stdlib.h>
 *	#include <callmark/worker.h>
 *
 *	int perf_setup(void **ret_state)
 *	{
 *		*ret_state = calloc(1000, sizeof(double));
 *		return *ret_state ? 0 : -1;
 *	}
 *
 *	int perf_workload(void *state, void **ret_result)
 *	{
 *		double *numbers = state;
 *
 *		for (int i = 1; i < 1000; i++)
 *			numbers[i] = numbers[i - 1] + i;
 *		*ret_result = &numbers[999];
 *		return 0;
 *	}
 *
 *	CM_WORKER_EXPORT int sum_is_right(void *state, void *result)
 *	{
 *		(void)state;
 *		return *(double *)result == 499500 ? 0 : 1;
 *	}
 *
 *	int perf_cleanup(void *state)
 *	{
 *		free(state);
 *		return 0;
 *	}
 *
 * SEE ALSO
 *
 * callmark(1), callmark/measure.h
 */
#ifndef CALLMARK_WORKER_H
#define CALLMARK_WORKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* For oracles and probes, so that they can be found whatever -fvisibility says. */
#define CM_WORKER_EXPORT __attribute__((visibility("default")))

/* *ret_state is NULL before. */
CM_WORKER_EXPORT int perf_setup(void **ret_state);

/* *ret_result is NULL before. */
CM_WORKER_EXPORT int perf_workload(void *state, void **ret_result);
CM_WORKER_EXPORT int perf_synchronize(void *state, void *result);
CM_WORKER_EXPORT int perf_cleanup(void *state);

/*
 * The shapes of what is named in the declaration:
 *
 *	int oracle(void *state, void *result);
 *	int probe(void *state);
 */

#ifdef __cplusplus
}
#endif

#endif
