/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters filtered, ordered, cut into one table an event group, and summed over threads. */
#include "cli/inspect-counters.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-model.h"

/* A column and where its region stands in the table of regions. */
struct placed {
	const struct cm_profile_counters *counters;
	size_t position; /* SIZE_MAX: it is not there */
	double seconds;
};

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

static int compare_group(const struct cm_profile_counters *left,
			 const struct cm_profile_counters *right)
{
	if (left->group_id != right->group_id)
		return left->group_id < right->group_id ? -1 : 1;
	return strcmp(left->group_name, right->group_name);
}

static int compare_placed(const void *a, const void *b)
{
	const struct placed *left = a, *right = b;
	int order = compare_group(left->counters, right->counters);

	if (order)
		return order;
	if (left->position != right->position)
		return left->position < right->position ? -1 : 1;
	if (left->seconds != right->seconds)
		return left->seconds < right->seconds ? 1 : -1;
	return strcmp(left->counters->tag, right->counters->tag);
}

static int compare_tags(const void *a, const void *b)
{
	const struct cm_inspect_region *const *left = a, *const *right = b;

	return strcmp((*left)->stats.tag, (*right)->stats.tag);
}

/* By tag: as found by bsearch, NULL where the region has no timings. */
static const struct cm_inspect_region *find_region(const struct cm_inspect_region *const *by_tag,
						   size_t n, const char *tag)
{
	const struct cm_inspect_region key = {.stats.tag = tag}, *key_place = &key;
	const struct cm_inspect_region *const *found;

	found = bsearch(&key_place, by_tag, n, sizeof(*by_tag), compare_tags);
	return found ? *found : NULL;
}

static int place(struct placed *placed, size_t n, const struct cm_inspect_section *section,
		 struct cm_diag *diag)
{
	const struct cm_inspect_region **by_tag = calloc(section->n_regions + 1, sizeof(*by_tag));
	const struct cm_inspect_region *region;
	double seconds;
	size_t i;

	if (!by_tag)
		return out_of_memory(diag);
	for (i = 0; i < section->n_regions; i++)
		by_tag[i] = &section->regions[i];
	qsort(by_tag, section->n_regions, sizeof(*by_tag), compare_tags);
	for (i = 0; i < n; i++) {
		region = find_region(by_tag, section->n_regions, placed[i].counters->tag);
		placed[i].position = region ? (size_t)(region - section->regions) : SIZE_MAX;
		seconds = cm_counters_over(placed[i].counters, placed[i].counters->times,
					   CM_OVER_MAX);
		placed[i].seconds = isnan(seconds) ? -1 : seconds;
	}
	qsort(placed, n, sizeof(*placed), compare_placed);
	free(by_tag);
	return 0;
}

static int cut_tables(struct cm_counter_tables *tables, const struct placed *placed,
		      struct cm_diag *diag)
{
	struct cm_counter_column *column;
	struct cm_counter_table *table = NULL;
	size_t i;
	int rc;

	for (i = 0; i < tables->n_columns; i++) {
		column = &tables->columns[i];
		column->counters = placed[i].counters;
		if (!i || compare_group(placed[i - 1].counters, placed[i].counters)) {
			table = &tables->tables[tables->n_tables++];
			table->columns = column;
		}
		table->n_columns++;
		rc = cm_counter_names_add(&table->names, column->counters, &column->layout, diag);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int cm_counter_tables_build(struct cm_counter_tables *tables, const struct cm_result_rank *rank,
			    const struct cm_filter *filter,
			    const struct cm_inspect_section *section, struct cm_diag *diag)
{
	struct placed *placed = calloc(rank->n_counters + 1, sizeof(*placed));
	size_t i, n = 0;
	int rc;

	tables->columns = calloc(rank->n_counters + 1, sizeof(*tables->columns));
	tables->tables = calloc(rank->n_counters + 1, sizeof(*tables->tables));
	if (!placed || !tables->columns || !tables->tables) {
		free(placed);
		return out_of_memory(diag);
	}
	for (i = 0; i < rank->n_counters; i++)
		if (cm_filter_matches(filter, rank->counters[i].tag))
			placed[n++].counters = &rank->counters[i];
	tables->n_columns = n;
	rc = place(placed, n, section, diag);
	if (rc >= 0)
		rc = cut_tables(tables, placed, diag);
	free(placed);
	return rc;
}

void cm_counter_tables_fini(struct cm_counter_tables *tables)
{
	size_t i;

	for (i = 0; i < tables->n_tables; i++)
		cm_counter_names_fini(&tables->tables[i].names);
	free(tables->tables);
	free(tables->columns);
	*tables = (struct cm_counter_tables){0};
}

size_t cm_counters_n_entered(const struct cm_profile_counters *counters)
{
	size_t i, n = 0;

	for (i = 0; i < counters->n_cpus; i++)
		n += counters->call_counts[i] > 0;
	return n;
}

void cm_counters_counts(const struct cm_profile_counters *counters,
			struct cm_counter_counts *ret_counts)
{
	struct cm_counter_counts counts = {0};
	int64_t n;
	size_t i;

	for (i = 0; i < counters->n_cpus; i++) {
		n = counters->call_counts[i];
		if (n <= 0)
			continue;
		if (__builtin_add_overflow(counts.sum, n, &counts.sum))
			counts.sum = INT64_MAX;
		counts.min = !counts.min || n < counts.min ? n : counts.min;
		counts.max = n > counts.max ? n : counts.max;
	}
	*ret_counts = counts;
}

double cm_counters_over(const struct cm_profile_counters *counters, const double *values,
			enum cm_counter_over over)
{
	bool has_entered = cm_counters_n_entered(counters);
	double least = NAN, most = NAN;
	long double sum = 0; /* exact for whole numbers up to 2^64 */
	size_t i, n = 0;

	for (i = 0; i < counters->n_cpus; i++) {
		if (has_entered && counters->call_counts[i] <= 0)
			continue;
		n++;
		sum += values[i];
		least = fmin(least, values[i]);
		most = fmax(most, values[i]);
	}
	if (!n)
		return NAN;
	switch (over) {
	case CM_OVER_SUM:
		return (double)sum;
	case CM_OVER_MEAN:
		return (double)(sum / (long double)n);
	case CM_OVER_MIN:
		return least;
	default:
		return most;
	}
}
