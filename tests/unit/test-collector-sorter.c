/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/sorter.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct check {
	struct cm_record last;
	uint64_t n;
	uint64_t sum; /* of all fields: nothing lost, nothing invented */
	int fail_with;
};

static uint64_t mix(const struct cm_record *record)
{
	uint64_t hash = (uint64_t)record->start * UINT64_C(0x9e3779b97f4a7c15) ^
			(uint64_t)record->end * UINT64_C(0xc2b2ae3d27d4eb4f) ^
			record->region * UINT64_C(0x165667b19e3779f9) ^ (uint64_t)record->thread;

	return hash ^ hash >> 31;
}

static int take(void *ctx, const struct cm_record *records, size_t n, struct cm_diag *diag)
{
	struct check *check = ctx;

	for (size_t i = 0; i < n; i++) {
		const struct cm_record *last = &check->last, *record = &records[i];

		cr_assert(check->n == 0 || last->region < record->region ||
				  (last->region == record->region && last->start <= record->start),
			  "record %lu is out of order", (unsigned long)check->n);
		check->last = *record;
		check->sum += mix(record);
		check->n++;
	}
	if (check->fail_with)
		return cm_diag_set(diag, check->fail_with, "as told");
	return 0;
}

enum shape { ASCENDING, DESCENDING, RANDOM, NESTED, EQUAL };

struct sort_row {
	enum shape shape;
	uint64_t n;
	uint32_t n_regions;
	size_t n_bytes;
};

static int64_t make_start(enum shape shape, uint64_t i)
{
	switch (shape) {
	case ASCENDING:
		return (int64_t)i;
	case DESCENDING:
		return -(int64_t)i;
	case RANDOM:
		return (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 2);
	case NESTED: /* seven deep: the innermost ends, and comes, first */
		return (int64_t)(i / 7 * 100 + 7 - i % 7);
	case EQUAL:
		return 5;
	}
	return 0;
}

ParameterizedTestParameters(sorter, gives_every_call_once_by_region_and_start)
{
	static struct sort_row rows[] = {
		{RANDOM, 0, 1, 0},
		{RANDOM, 1, 1, 0},
		{RANDOM, 40, 3, 0},
		{RANDOM, 100000, 7, 0},
		{ASCENDING, 100000, 1, 0},
		{DESCENDING, 100000, 1, 0},
		{NESTED, 100000, 2, 0},
		{EQUAL, 5000, 1, 0},
		/* 512 records at a time: 196 runs, two at once, eight levels. */
		{RANDOM, 100000, 7, 1},
		{NESTED, 100000, 1, 1},
		{ASCENDING, 100000, 5000, 1},
		/* 131072 in the pool, 16 runs at once. */
		{RANDOM, 3000000, 5, 6 << 20},
	};

	return cr_make_param_array(struct sort_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct sort_row *row, sorter, gives_every_call_once_by_region_and_start)
{
	struct check check = {0};
	struct cm_diag diag = {0};
	struct cm_sorter *sorter;
	uint64_t sum = 0;

	srand(7);
	cr_assert_eq(cm_sorter_new(&sorter, row->n_regions, row->n, row->n_bytes, "/tmp", &diag),
		     0);
	for (uint64_t i = 0; i < row->n; i++) {
		int64_t start = make_start(row->shape, i);
		struct cm_record record = {start, start + rand() % 100,
					   (uint32_t)rand() % row->n_regions, (int32_t)(i % 8)};

		sum += mix(&record);
		cr_assert_eq(cm_sorter_add(sorter, &record, &diag), 0, "%s", diag.text);
	}
	cr_assert_eq(cm_sorter_merge(sorter, take, &check, &diag), 0, "%s", diag.text);
	cr_assert_eq(check.n, row->n);
	cr_assert_eq(check.sum, sum);
	cm_sorter_free(sorter);
}

Test(sorter, keeps_the_order_of_calls_that_started_together)
{
	struct check check = {0};
	struct cm_diag diag = {0};
	struct cm_sorter *sorter;

	cr_assert_eq(cm_sorter_new(&sorter, 2, 300, 0, "/tmp", &diag), 0);
	for (int i = 0; i < 300; i++) {
		struct cm_record record = {i % 3, i, (uint32_t)i % 2, 0};

		cr_assert_eq(cm_sorter_add(sorter, &record, &diag), 0);
	}
	cr_assert_eq(cm_sorter_merge(sorter, take, &check, &diag), 0);
	cr_assert_eq(check.last.end, 299);
	cm_sorter_free(sorter);
}

Test(sorter, hands_on_what_its_taker_fails_with)
{
	for (size_t n_bytes = 0; n_bytes < 2; n_bytes++) {
		struct check check = {.fail_with = -ENOSPC};
		struct cm_record record = {1, 2, 0, 0};
		struct cm_diag diag = {0};
		struct cm_sorter *sorter;

		cr_assert_eq(cm_sorter_new(&sorter, 1, 2000, n_bytes, "/tmp", &diag), 0);
		for (int i = 0; i < 2000; i++)
			cr_assert_eq(cm_sorter_add(sorter, &record, &diag), 0);
		cr_assert_eq(cm_sorter_merge(sorter, take, &check, &diag), -ENOSPC);
		cr_assert_str_eq(diag.text, "as told");
		cm_sorter_free(sorter);
	}
}

Test(sorter, falls_back_to_another_folder_for_its_temporary_file)
{
	struct check check = {0};
	struct cm_diag diag = {0};
	struct cm_sorter *sorter;

	cr_assert_eq(cm_sorter_new(&sorter, 1, 2000, 1, "/nonexistent/folder", &diag), 0);
	for (int i = 2000; i > 0; i--) {
		struct cm_record record = {i, i, 0, 0};

		cr_assert_eq(cm_sorter_add(sorter, &record, &diag), 0, "%s", diag.text);
	}
	cr_assert_eq(cm_sorter_merge(sorter, take, &check, &diag), 0);
	cr_assert_eq(check.n, 2000);
	cm_sorter_free(sorter);
}
