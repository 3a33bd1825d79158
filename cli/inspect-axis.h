/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One time axis for ranks on several nodes: 0 is the earliest first start of the ranks shown.
 *
 *	cm_axis_build(inspection);                       sections have their first_ns and last_ns
 *	if (cm_axis_find(section, thread->first_ns, &ns)) ...
 *
 * Times in a file are CLOCK_MONOTONIC, which starts anew on each node. A rank's
 * monotonic_to_realtime_ns, taken when its process started, leads to CLOCK_REALTIME, which nodes
 * have in common as exactly as they are synchronised. Where no rank has it and all have the same
 * host name, or none, they are taken to share one clock. No errors. Any thread.
 */
#ifndef CALLMARK_CLI_INSPECT_AXIS_H
#define CALLMARK_CLI_INSPECT_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct cm_inspection;
struct cm_inspect_section;

/* Where a section is on the axis. */
struct cm_inspect_place {
	bool has_span; /* first_ns and last_ns are known */
	/* As in the file: the first start of the rank's threads and their last end. */
	int64_t first_ns;
	int64_t last_ns;
	bool is_aligned; /* it has a span, and a clock in common with the others */
	int64_t offset_ns;
	int64_t zero_ns; /* the earliest first start plus its offset */
};

/* Of all ranks' sections. */
void cm_axis_build(struct cm_inspection *inspection);

/* A time of that rank on the axis; false where the rank is not aligned, or the result no int64. */
bool cm_axis_find(const struct cm_inspect_place *place, int64_t ns, int64_t *ret_ns);

/* 0 on the axis as nanoseconds of CLOCK_REALTIME; false where that is not known. */
bool cm_axis_zero(const struct cm_inspection *inspection, int64_t *ret_ns);

#endif
