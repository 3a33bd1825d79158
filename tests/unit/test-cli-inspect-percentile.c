/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/inspect-percentile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Durations in memory; remembers how it was read. */
struct memory {
	const uint64_t *ns;
	size_t largest;
	uint64_t n_read;
	int rc;
};

static int read_memory(void *ctx, uint64_t first, size_t n, uint64_t *ret_ns, struct cm_diag *diag)
{
	struct memory *memory = ctx;

	(void)diag;
	memcpy(ret_ns, memory->ns + first, n * sizeof(*ret_ns));
	memory->largest = n > memory->largest ? n : memory->largest;
	memory->n_read += n;
	return memory->rc;
}

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Select, and compare with what sorting says. Returns how often each duration was read. */
static double check(uint64_t *ns, size_t n)
{
	struct memory memory = {.ns = ns};
	struct cm_durations durations = {n, read_memory, &memory};
	uint64_t selected[CM_N_PERCENTILES];
	size_t i, k;

	cr_assert_eq(cm_percentile_select(&durations, selected, NULL), 0);
	cr_expect_leq(memory.largest, CM_DURATIONS_SLICE);
	qsort(ns, n, sizeof(*ns), compare);
	for (i = 0; i < CM_N_PERCENTILES; i++) {
		k = (size_t)ceil((double)n * cm_percentiles[i] / 100);
		cr_expect_eq(selected[i], ns[k - 1], "p%u of %zu", cm_percentiles[i], n);
	}
	return (double)memory.n_read / (double)n;
}

/* xorshift64: the same numbers in every run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t *random_durations(size_t n, unsigned max_bits)
{
	uint64_t *ns = reallocarray(NULL, n, sizeof(*ns)), state = 88172645463325252u;
	size_t i;

	/* All magnitudes up to max_bits, as real durations spread over decades. */
	for (i = 0; i < n; i++)
		ns[i] = next_random(&state) >> (64 - 1 - next_random(&state) % max_bits);
	return ns;
}

Test(percentile, is_the_duration_of_a_call_however_few_there_are)
{
	uint64_t ns[] = {30, 10, 20, 40, 50};
	size_t n;

	for (n = 1; n <= 5; n++)
		check(ns, n);
}

Test(percentile, agrees_with_sorting_at_the_edges_of_a_slice)
{
	static const long offsets[] = {-1, 0, 1, 7, CM_DURATIONS_SLICE};
	uint64_t *ns;
	size_t i;

	for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		ns = random_durations(CM_DURATIONS_SLICE + offsets[i], 40);
		check(ns, CM_DURATIONS_SLICE + offsets[i]);
		free(ns);
	}
}

Test(percentile, reads_usual_durations_twice)
{
	uint64_t *ns = random_durations(300000, 26);

	cr_expect_leq(check(ns, 300000), 2);
	free(ns);
}

Test(percentile, is_exact_for_any_64_bit_duration)
{
	uint64_t *ns = random_durations(200000, 63);
	size_t i;

	for (i = 0; i < 100000; i++)
		ns[i] = UINT64_MAX - ns[i];
	cr_expect_leq(check(ns, 200000), 5);
	for (i = 0; i < 200000; i++)
		ns[i] = i % 3 ? UINT64_MAX : 0;
	check(ns, 200000);
	free(ns);
}

Test(percentile, handles_all_durations_being_equal)
{
	uint64_t *ns = reallocarray(NULL, 100000, sizeof(*ns));
	size_t i;

	for (i = 0; i < 100000; i++)
		ns[i] = 123456789012;
	check(ns, 100000);
	free(ns);
}

Test(percentile, passes_a_read_error_on)
{
	uint64_t *ns = random_durations(100000, 20), selected[CM_N_PERCENTILES];
	struct memory memory = {.ns = ns, .rc = -EIO};
	struct cm_durations durations = {100000, read_memory, &memory};

	cr_expect_eq(cm_percentile_select(&durations, selected, NULL), -EIO);
	durations.n = 5;
	cr_expect_eq(cm_percentile_select(&durations, selected, NULL), -EIO);
	free(ns);
}

Test(percentile, is_estimated_inside_the_right_bucket)
{
	uint64_t histogram[CM_PROFILE_N_BUCKETS] = {0};

	cr_expect(isnan(cm_percentile_estimate(histogram, 0, 0, 50)));
	/* 100 calls from 64 to 127 ns, evenly: the middle of the 50th of 100 parts. */
	histogram[6] = 100;
	cr_expect_float_eq(cm_percentile_estimate(histogram, 64, 128, 50), 64 + 64 * 0.495, 1e-9);
	/* The known extremes draw the bucket in. */
	cr_expect_float_eq(cm_percentile_estimate(histogram, 100, 110, 99), 100 + 10 * 0.985, 1e-9);
	cr_expect_float_eq(cm_percentile_estimate(histogram, 100, 100, 50), 100, 1e-9);
	/* 90 short ones before them: p50 is among those, p95 and p99 are not. */
	histogram[0] = 900;
	cr_expect_lt(cm_percentile_estimate(histogram, 0, 127, 50), 2);
	cr_expect_geq(cm_percentile_estimate(histogram, 0, 127, 95), 64);
	cr_expect_leq(cm_percentile_estimate(histogram, 0, 127, 99), 127);
}

Test(percentile, estimate_survives_nonsense)
{
	uint64_t histogram[CM_PROFILE_N_BUCKETS];
	double ns;

	memset(histogram, 0xff, sizeof(histogram));
	ns = cm_percentile_estimate(histogram, INT64_MIN, INT64_MAX, 99);
	cr_expect(ns >= 0 && ns <= 0x1p64);
	ns = cm_percentile_estimate(histogram, INT64_MAX, INT64_MIN, 50);
	cr_expect(ns >= 0 && ns <= 0x1p64);
}
