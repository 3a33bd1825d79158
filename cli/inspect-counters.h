/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of one rank as `callmark inspect` shows them: one table an event group,
 * a column a region in the order of the table of regions, the others behind.
 *
 *	struct cm_counter_tables tables = {0};
 *	cm_counter_tables_build(&tables, rank, &filter, section, &diag);
 *	... tables.tables[i].columns[k].counters ...
 *	cm_counter_tables_fini(&tables);
 *
 * A region may have counters and no timings, or the other way round. Borrows the rank.
 * Errors: -ENOMEM. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INSPECT_COUNTERS_H
#define CALLMARK_CLI_INSPECT_COUNTERS_H

#include <stddef.h>

#include "cli/counter-names.h"
#include "cli/inspect-filter.h"
#include "writer/results.h"

struct cm_inspect_section;

struct cm_counter_column {
	const struct cm_profile_counters *counters;
	size_t layout; /* in the table's names */
};

struct cm_counter_table {
	struct cm_counter_names names;
	struct cm_counter_column *columns; /* at least one; of one group_id and group_name */
	size_t n_columns;
};

struct cm_counter_tables {
	struct cm_counter_column *columns; /* of all tables */
	size_t n_columns;
	struct cm_counter_table *tables;
	size_t n_tables;
};

/* The tables start zeroed and are fini'd by the caller also when this fails. */
int cm_counter_tables_build(struct cm_counter_tables *tables, const struct cm_result_rank *rank,
			    const struct cm_filter *filter,
			    const struct cm_inspect_section *section, struct cm_diag *diag);
void cm_counter_tables_fini(struct cm_counter_tables *tables);

/* How the values of several hardware threads become one number. */
enum cm_counter_over {
	CM_OVER_SUM,
	CM_OVER_MEAN,
	CM_OVER_MIN,
	CM_OVER_MAX,
};

/*
 * Over the hardware threads that entered the region (all, where none did): values has one for each.
 * NaN without any, and where one of a sum or mean is NaN.
 */
double cm_counters_over(const struct cm_profile_counters *counters, const double *values,
			enum cm_counter_over over);

/* How often the region was entered, by the hardware threads that entered it; INT64_MAX above. */
struct cm_counter_counts {
	int64_t sum;
	int64_t min;
	int64_t max;
};

void cm_counters_counts(const struct cm_profile_counters *counters,
			struct cm_counter_counts *ret_counts);

/* Hardware threads that entered the region. */
size_t cm_counters_n_entered(const struct cm_profile_counters *counters);

#endif
