/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of ranks on one axis, through each rank's distance from CLOCK_REALTIME. */
#include "cli/inspect-axis.h"

#include <stddef.h>
#include <string.h>

#include "cli/inspect-model.h"

/* No rank has an offset, and nothing says that they ran on different machines. */
static bool have_one_clock(const struct cm_inspection *inspection)
{
	const struct cm_result_rank *rank, *first = NULL;
	size_t i;

	for (i = 0; i < inspection->n_sections; i++) {
		rank = inspection->sections[i].rank;
		if (!rank)
			continue;
		first = first ? first : rank;
		if (rank->monotonic_to_realtime_ns || strcmp(rank->hostname, first->hostname))
			return false;
	}
	return true;
}

void cm_axis_build(struct cm_inspection *inspection)
{
	bool has_one_clock = have_one_clock(inspection);
	int64_t zero_ns = INT64_MAX, first_ns, last_ns;
	struct cm_inspect_place *place;
	size_t i;

	for (i = 0; i < inspection->n_sections; i++) {
		if (!inspection->sections[i].rank)
			continue;
		place = &inspection->sections[i].place;
		place->offset_ns = inspection->sections[i].rank->monotonic_to_realtime_ns;
		/* What does not fit is no time. */
		place->is_aligned =
			place->has_span && (place->offset_ns || has_one_clock) &&
			!__builtin_add_overflow(place->first_ns, place->offset_ns, &first_ns) &&
			!__builtin_add_overflow(place->last_ns, place->offset_ns, &last_ns);
		if (place->is_aligned && first_ns < zero_ns)
			zero_ns = first_ns;
	}
	for (i = 0; i < inspection->n_sections; i++)
		inspection->sections[i].place.zero_ns = zero_ns;
}

bool cm_axis_find(const struct cm_inspect_place *place, int64_t ns, int64_t *ret_ns)
{
	int64_t found;

	if (!place->is_aligned || __builtin_add_overflow(ns, place->offset_ns, &found) ||
	    __builtin_sub_overflow(found, place->zero_ns, &found))
		return false;
	*ret_ns = found;
	return true;
}

bool cm_axis_zero(const struct cm_inspection *inspection, int64_t *ret_ns)
{
	const struct cm_inspect_place *place;
	size_t i;

	for (i = 0; i < inspection->n_sections; i++) {
		place = &inspection->sections[i].place;
		if (!place->is_aligned || !place->offset_ns)
			continue;
		*ret_ns = place->zero_ns;
		return true;
	}
	return false;
}
