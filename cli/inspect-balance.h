/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How evenly one region's time lies on the ranks, as `callmark inspect` shows it.
 *
 *	cm_balance_of(&region->balance, totals, n, n_ranks);
 *
 * Each rank has one number, its total time in the region; a rank that did not enter it has 0.
 * No errors. Any thread.
 */
#ifndef CALLMARK_CLI_INSPECT_BALANCE_H
#define CALLMARK_CLI_INSPECT_BALANCE_H

#include <stddef.h>
#include <stdint.h>

struct cm_rank_total {
	int64_t rank;
	int64_t total_ns; /* below 0: taken as 0 */
};

struct cm_inspect_balance {
	int64_t min_ns; /* over the ranks; likewise below */
	int64_t max_ns;
	double mean_ns;
	int64_t slowest;  /* the rank that has max_ns, the first one of several; -1: all have 0 */
	double imbalance; /* max / mean - 1; NaN where all have 0 */
	/* What the ranks would wait for the slowest: n * max - sum; INT64_MAX above that. */
	int64_t lost_ns;
};

/* The totals of n ranks that entered the region, out of n_ranks >= 1; each rank once. */
void cm_balance_of(struct cm_inspect_balance *ret_balance, const struct cm_rank_total *totals,
		   size_t n, size_t n_ranks);

#endif
