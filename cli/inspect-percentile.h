/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Percentiles of call durations: exact from a complete trace in bounded memory, or estimated from
 * the log2 histogram.
 *
 * A percentile is the nearest-rank one: the smallest duration that at least that many percent of
 * the calls do not exceed. It is always the duration of a call.
 */
#ifndef CALLMARK_CLI_INSPECT_PERCENTILE_H
#define CALLMARK_CLI_INSPECT_PERCENTILE_H

#include <stddef.h>
#include <stdint.h>

#include "collector/profile.h"
#include "preload/diag.h"

#define CM_N_PERCENTILES 3
extern const unsigned cm_percentiles[CM_N_PERCENTILES]; /* 50, 95, 99 */

/* What read() is asked for at most, in one piece and in ascending order. */
#define CM_DURATIONS_SLICE 65536

/* A sequence of durations that can be read over and over. */
struct cm_durations {
	uint64_t n;
	int (*read)(void *ctx, uint64_t first, size_t n, uint64_t *ret_ns, struct cm_diag *diag);
	void *ctx;
};

/*
 * The exact percentiles of n > 0 durations, all CM_N_PERCENTILES at once. Up to one slice is
 * sorted; more is read two to five times (two below 67 ms a call), in 3 MiB of memory at most.
 * -ENOMEM, or what read() returned.
 */
int cm_percentile_select(const struct cm_durations *durations, uint64_t ret_ns[CM_N_PERCENTILES],
			 struct cm_diag *diag);

/*
 * An estimate: linear inside the bucket, whose ends are drawn in to min_ns and max_ns.
 * Bucket b holds 2^b <= ns < 2^(b+1); b == 0 also 0 ns. NaN for an empty histogram.
 */
double cm_percentile_estimate(const uint64_t histogram[CM_PROFILE_N_BUCKETS], int64_t min_ns,
			      int64_t max_ns, unsigned percent);

#endif
