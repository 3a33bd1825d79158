/* SPDX-License-Identifier: BSD-3-Clause */
/* Minimum, mean, maximum, imbalance and lost time of one region over ranks. */
#include "cli/inspect-balance.h"

#include <math.h>

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t multiply(int64_t ns, size_t n)
{
	int64_t product;

	return __builtin_mul_overflow(ns, n, &product) ? INT64_MAX : product;
}

static int64_t own(const struct cm_rank_total *total)
{
	return total->total_ns > 0 ? total->total_ns : 0;
}

void cm_balance_of(struct cm_inspect_balance *ret_balance, const struct cm_rank_total *totals,
		   size_t n, size_t n_ranks)
{
	struct cm_inspect_balance balance = {.slowest = -1, .imbalance = NAN};
	size_t n_absent = n < n_ranks ? n_ranks - n : 0, i;
	long double sum = 0; /* exact below 2^64 ns */

	balance.min_ns = n_absent || !n ? 0 : own(&totals[0]);
	for (i = 0; i < n; i++) {
		int64_t ns = own(&totals[i]);

		sum += (long double)ns;
		balance.min_ns = ns < balance.min_ns ? ns : balance.min_ns;
		if (ns > balance.max_ns) {
			balance.max_ns = ns;
			balance.slowest = totals[i].rank;
		}
	}
	balance.lost_ns = multiply(balance.max_ns, n_absent);
	for (i = 0; i < n; i++)
		balance.lost_ns = add(balance.lost_ns, balance.max_ns - own(&totals[i]));
	balance.mean_ns = (double)(sum / (long double)(n + n_absent));
	if (balance.max_ns)
		balance.imbalance =
			(double)((long double)balance.max_ns * (long double)(n + n_absent) / sum -
				 1);
	*ret_balance = balance;
}
