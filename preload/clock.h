/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks: the time-stamp counter where the kernel trusts it, else CLOCK_MONOTONIC.
 *
 * The collector converts ticks with the sync points of the process file. In the target only the
 * log2 histogram of untraced calls needs nanoseconds, for which a scale good to 1e-4 is enough.
 */
#ifndef CALLMARK_PRELOAD_CLOCK_H
#define CALLMARK_PRELOAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "preload/spool.h"

extern enum cm_spool_clock cm_clock_kind;
extern int (*cm_clock_vdso)(clockid_t, struct timespec *); /* never NULL after init */
extern uint64_t cm_clock_scale; /* ns per tick * 2^32; 0: not known yet */

/* Choose; wish is CALLMARK_CLOCK's value or NULL. false: wish not understood. Init only. */
bool cm_clock_init(const char *wish);

/* Find cm_clock_scale if it is not known (spins up to 0.2 ms once). Signals blocked. */
void cm_clock_need_scale(void);

/* A tick and the two clocks at the same moment, to a few ns. Any thread. */
void cm_clock_sync(uint64_t *ret_tick, uint64_t *ret_mono_ns, uint64_t *ret_realtime_ns);

/* Ticks in this many ns (for intervals of our own, not for results). */
uint64_t cm_clock_ticks(uint64_t ns);

static inline __attribute__((always_inline)) uint64_t cm_clock_read(bool tsc)
{
	struct timespec ts;

	if (tsc)
		return __builtin_ia32_rdtsc();
	(void)cm_clock_vdso(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t cm_clock_now(void)
{
	return cm_clock_read(cm_clock_kind == CM_CLOCK_TSC);
}

#endif
