/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting calls in memory, by region and start. Linear: a counting sort on the region, then a
 * radix sort on the start within regions that are not in order already (most are: threads record
 * in order). A part of collector/sorter.c.
 */
#ifndef CALLMARK_COLLECTOR_RECORD_SORT_H
#define CALLMARK_COLLECTOR_RECORD_SORT_H

#include "collector/sorter.h"

/*
 * Sort n records of regions below n_regions. The result stands in `records` or `scratch` (both
 * hold n); the return value says which. counts: n_regions + 1 numbers of scratch. Stable.
 */
struct cm_record *cm_record_sort(struct cm_record *records, struct cm_record *scratch, size_t n,
				 uint32_t *counts, uint32_t n_regions);

#endif
