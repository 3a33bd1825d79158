/* SPDX-License-Identifier: BSD-3-Clause */
/* Stable counting and radix sorts; see the header. */
#include "collector/record-sort.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define N_DIGITS (1u << DIGIT_BITS)
#ifdef CM_SMALL_PIECES /* fuzzers */
#define INSERTION_MAX 2
#else
#define INSERTION_MAX 48
#endif

static bool is_ascending(const struct cm_record *records, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (records[i].start < records[i - 1].start)
			return false;
	}
	return true;
}

static void sort_few(struct cm_record *records, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct cm_record record = records[i];
		size_t k = i;

		for (; k > 0 && records[k - 1].start > record.start; k--)
			records[k] = records[k - 1];
		records[k] = record;
	}
}

/* One digit of start - low, from one array to the other. */
static void sort_digit(const struct cm_record *from, struct cm_record *to, size_t n, uint64_t low,
		       unsigned int shift)
{
	uint32_t counts[N_DIGITS] = {0}, sum = 0;

	for (size_t i = 0; i < n; i++)
		counts[((uint64_t)from[i].start - low) >> shift & (N_DIGITS - 1)]++;
	for (size_t i = 0; i < N_DIGITS; i++) {
		uint32_t count = counts[i];

		counts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[counts[((uint64_t)from[i].start - low) >> shift & (N_DIGITS - 1)]++] = from[i];
}

/* One region's part, in place; scratch has room for n. */
static void sort_starts(struct cm_record *records, struct cm_record *scratch, size_t n)
{
	struct cm_record *from = records, *to = scratch, *swap;
	int64_t low = INT64_MAX, high = INT64_MIN;
	uint64_t range;

	if (is_ascending(records, n))
		return;
	if (n <= INSERTION_MAX) {
		sort_few(records, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		low = records[i].start < low ? records[i].start : low;
		high = records[i].start > high ? records[i].start : high;
	}
	range = (uint64_t)high - (uint64_t)low;
	for (unsigned int shift = 0; shift < 64 && range >> shift; shift += DIGIT_BITS) {
		sort_digit(from, to, n, (uint64_t)low, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != records)
		memcpy(records, from, n * sizeof(*records));
}

struct cm_record *cm_record_sort(struct cm_record *records, struct cm_record *scratch, size_t n,
				 uint32_t *counts, uint32_t n_regions)
{
	struct cm_record *swap;
	uint32_t first = 0;

	memset(counts, 0, (n_regions + 1) * sizeof(*counts));
	for (size_t i = 0; i < n; i++)
		counts[records[i].region + 1]++;
	if (n && counts[records[0].region + 1] < n) {
		for (uint32_t i = 1; i <= n_regions; i++)
			counts[i] += counts[i - 1];
		for (size_t i = 0; i < n; i++)
			scratch[counts[records[i].region]++] = records[i];
		swap = records;
		records = scratch;
		scratch = swap;
		/* counts[r] is now where region r ends. */
		for (uint32_t i = 0; i < n_regions; i++) {
			sort_starts(records + first, scratch + first, counts[i] - first);
			first = counts[i];
		}
	} else {
		sort_starts(records, scratch, n);
	}
	return records;
}
