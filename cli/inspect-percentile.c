/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Percentiles: selection by counting in ever finer bins, and estimates from a histogram.
 *
 * The first pass counts every duration in bins that are exact below 2048 ns and hold 1/1024 of
 * their power of two above. Each percentile then stands in one bin; further passes split that bin
 * alone, 65536-fold, until bins are 1 ns wide.
 */
#include "cli/inspect-percentile.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const unsigned cm_percentiles[CM_N_PERCENTILES] = {50, 95, 99};

#define MANTISSA_BITS 10
#define N_MANTISSAS (1u << MANTISSA_BITS)
#define N_FIRST_BINS ((64 - MANTISSA_BITS) * N_MANTISSAS + N_MANTISSAS)
#define SPLIT_BITS 16
#define N_BINS (1u << SPLIT_BITS)
_Static_assert(N_FIRST_BINS <= N_BINS, "the first pass uses the same memory");

/* Where one percentile is known to be: low <= value < low + 2^shift. */
struct target {
	uint64_t k; /* it is the k-th smallest, from 1, of the durations in that range */
	uint64_t low;
	unsigned shift;
	unsigned bin_shift; /* of this pass */
	uint64_t *bins;
};

/* ceil(n * percent / 100), at least 1 for n > 0. */
static uint64_t nearest_rank(uint64_t n, unsigned percent)
{
	return (uint64_t)(((unsigned __int128)n * percent + 99) / 100);
}

static size_t first_bin(uint64_t ns)
{
	unsigned shift;

	if (ns < 2 * N_MANTISSAS)
		return ns;
	shift = 63 - MANTISSA_BITS - (unsigned)__builtin_clzll(ns);
	return (size_t)shift * N_MANTISSAS + (ns >> shift);
}

/* The bin in which the k-th is; k becomes its place inside that bin. */
static size_t find_bin(const uint64_t *bins, uint64_t *k)
{
	size_t i = 0;

	while (i < N_BINS - 1 && *k > bins[i])
		*k -= bins[i++];
	return i;
}

static int first_pass(const struct cm_durations *durations, struct target *targets, uint64_t *slice,
		      struct cm_diag *diag)
{
	uint64_t first, *bins = targets[0].bins;
	size_t n, i, bin;
	int rc;

	memset(bins, 0, N_BINS * sizeof(*bins));
	for (first = 0; first < durations->n; first += n) {
		n = durations->n - first < CM_DURATIONS_SLICE ? durations->n - first
							      : CM_DURATIONS_SLICE;
		rc = durations->read(durations->ctx, first, n, slice, diag);
		if (rc < 0)
			return rc;
		for (i = 0; i < n; i++)
			bins[first_bin(slice[i])]++;
	}
	for (i = 0; i < CM_N_PERCENTILES; i++) {
		targets[i].k = nearest_rank(durations->n, cm_percentiles[i]);
		bin = find_bin(bins, &targets[i].k);
		targets[i].shift = bin < 2 * N_MANTISSAS ? 0 : bin / N_MANTISSAS - 1;
		targets[i].low = (bin - (uint64_t)targets[i].shift * N_MANTISSAS)
				 << targets[i].shift;
	}
	return 0;
}

static void count(struct target *target, const uint64_t *slice, size_t n)
{
	uint64_t width = UINT64_C(1) << target->shift, offset;
	size_t i;

	for (i = 0; i < n; i++) {
		offset = slice[i] - target->low; /* wraps to something large below low */
		if (offset < width)
			target->bins[offset >> target->bin_shift]++;
	}
}

/* Split the range of every percentile that is not yet known to the nanosecond. */
static int split_pass(const struct cm_durations *durations, struct target *targets, uint64_t *slice,
		      struct cm_diag *diag)
{
	uint64_t first;
	size_t n, i;
	int rc;

	for (i = 0; i < CM_N_PERCENTILES; i++) {
		targets[i].bin_shift =
			targets[i].shift > SPLIT_BITS ? targets[i].shift - SPLIT_BITS : 0;
		memset(targets[i].bins, 0, N_BINS * sizeof(*targets[i].bins));
	}
	for (first = 0; first < durations->n; first += n) {
		n = durations->n - first < CM_DURATIONS_SLICE ? durations->n - first
							      : CM_DURATIONS_SLICE;
		rc = durations->read(durations->ctx, first, n, slice, diag);
		if (rc < 0)
			return rc;
		for (i = 0; i < CM_N_PERCENTILES; i++)
			if (targets[i].shift)
				count(&targets[i], slice, n);
	}
	for (i = 0; i < CM_N_PERCENTILES; i++) {
		if (!targets[i].shift)
			continue;
		targets[i].low += (uint64_t)find_bin(targets[i].bins, &targets[i].k)
				  << targets[i].bin_shift;
		targets[i].shift = targets[i].bin_shift;
	}
	return 0;
}

static bool is_settled(const struct target *targets)
{
	size_t i;

	for (i = 0; i < CM_N_PERCENTILES; i++)
		if (targets[i].shift)
			return false;
	return true;
}

static int select_by_counting(const struct cm_durations *durations, uint64_t *slice,
			      uint64_t ret_ns[CM_N_PERCENTILES], struct cm_diag *diag)
{
	struct target targets[CM_N_PERCENTILES] = {0};
	uint64_t *bins = calloc((size_t)CM_N_PERCENTILES * N_BINS, sizeof(*bins));
	size_t i;
	int rc;

	if (!bins)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < CM_N_PERCENTILES; i++)
		targets[i].bins = bins + i * N_BINS;
	rc = first_pass(durations, targets, slice, diag);
	while (rc >= 0 && !is_settled(targets))
		rc = split_pass(durations, targets, slice, diag);
	for (i = 0; rc >= 0 && i < CM_N_PERCENTILES; i++)
		ret_ns[i] = targets[i].low;
	free(bins);
	return rc;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static int select_by_sorting(const struct cm_durations *durations, uint64_t *slice,
			     uint64_t ret_ns[CM_N_PERCENTILES], struct cm_diag *diag)
{
	size_t n = durations->n, i;
	int rc = durations->read(durations->ctx, 0, n, slice, diag);

	if (rc < 0)
		return rc;
	qsort(slice, n, sizeof(*slice), compare);
	for (i = 0; i < CM_N_PERCENTILES; i++)
		ret_ns[i] = slice[nearest_rank(n, cm_percentiles[i]) - 1];
	return 0;
}

int cm_percentile_select(const struct cm_durations *durations, uint64_t ret_ns[CM_N_PERCENTILES],
			 struct cm_diag *diag)
{
	size_t room = durations->n < CM_DURATIONS_SLICE ? durations->n : CM_DURATIONS_SLICE;
	uint64_t *slice;
	int rc;

	assert(durations->n);
	slice = reallocarray(NULL, room, sizeof(*slice));
	if (!slice)
		return cm_diag_set(diag, -ENOMEM, "out of memory");
	if (durations->n <= CM_DURATIONS_SLICE)
		rc = select_by_sorting(durations, slice, ret_ns, diag);
	else
		rc = select_by_counting(durations, slice, ret_ns, diag);
	free(slice);
	return rc;
}

double cm_percentile_estimate(const uint64_t histogram[CM_PROFILE_N_BUCKETS], int64_t min_ns,
			      int64_t max_ns, unsigned percent)
{
	double n = 0, k, low, high;
	size_t b;

	for (b = 0; b < CM_PROFILE_N_BUCKETS; b++)
		n += (double)histogram[b];
	if (n <= 0)
		return NAN;
	k = ceil(n * percent / 100);
	for (b = 0; b < CM_PROFILE_N_BUCKETS - 1 && k > (double)histogram[b]; b++)
		k -= (double)histogram[b];
	low = b ? ldexp(1, (int)b) : 0;
	high = ldexp(1, (int)b + 1);
	if (low < (double)min_ns && (double)min_ns < high)
		low = (double)min_ns;
	if (high > (double)max_ns && (double)max_ns >= low)
		high = (double)max_ns;
	/* The k-th of h calls spread evenly stands in the middle of the k-th of h parts. */
	return histogram[b] ? low + (high - low) * (k - 0.5) / (double)histogram[b] : high;
}
