/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows (or columns) of a table of counters: the union of the event labels and of the metrics
 * of many regions, in the order in which they first appear.
 *
 *	struct cm_counter_names names = {0};
 *	cm_counter_names_add(&names, counters, &layout, &diag);      for each region
 *	... names.names[CM_COUNTER_EVENT][place], names.n[CM_COUNTER_EVENT] ...
 *	values = cm_counter_values(&names, layout, counters, CM_COUNTER_EVENT, place);
 *	cm_counter_names_fini(&names);
 *
 * A name stands once: event labels are cm_results_event_label's; what is still repeated in one
 * region (a metric that its group defines twice) gets #2, #3... Regions with the same names share
 * a layout, so that this costs one comparison of the names a region.
 * Borrows the counters. Errors: -ENOMEM. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_COUNTER_NAMES_H
#define CALLMARK_CLI_COUNTER_NAMES_H

#include <stddef.h>

#include "writer/results.h"

enum cm_counter_kind {
	CM_COUNTER_EVENT,
	CM_COUNTER_METRIC,
	CM_N_COUNTER_KINDS,
};

struct cm_counter_layout;

struct cm_counter_names {
	struct cm_counter_layout *layouts;
	size_t n_layouts;
	const char **names[CM_N_COUNTER_KINDS]; /* by place */
	size_t n[CM_N_COUNTER_KINDS];
};

int cm_counter_names_add(struct cm_counter_names *names, const struct cm_profile_counters *counters,
			 size_t *ret_layout, struct cm_diag *diag);

/* The unique labels of a region's own events or metrics, in its order: n_events or n_metrics. */
const char *const *cm_counter_labels(const struct cm_counter_names *names, size_t layout,
				     enum cm_counter_kind kind);

/* By hardware thread, n_cpus of them; NULL where the region has no such event or metric. */
const double *cm_counter_values(const struct cm_counter_names *names, size_t layout,
				const struct cm_profile_counters *counters,
				enum cm_counter_kind kind, size_t place);

void cm_counter_names_fini(struct cm_counter_names *names);

#endif
