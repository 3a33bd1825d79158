/* SPDX-License-Identifier: BSD-3-Clause */
/* Several ranks compared: each region's balance, the order of regions, counters side by side. */
#include "cli/inspect-ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

/* Entries of one tag, a rank's next to each other: two of its regions may have the same tag. */
static size_t sum_ranks(const struct cm_results *results, const struct cm_gather_entry *entries,
			size_t n_entries, struct cm_rank_total *totals)
{
	struct cm_rank_total *total = NULL;
	size_t n = 0, i;

	for (i = 0; i < n_entries; i++) {
		int64_t ns = entries[i].region->stats.total_ns;

		if (i && entries[i].rank_idx == entries[i - 1].rank_idx) {
			if (__builtin_add_overflow(total->total_ns, ns, &total->total_ns))
				total->total_ns = INT64_MAX;
			continue;
		}
		total = &totals[n++];
		total->rank = cm_results_rank(results, entries[i].rank_idx)->rank;
		total->total_ns = ns;
	}
	return n;
}

int cm_ranks_set_balances(struct cm_inspection *inspection, const struct cm_gather *gather,
			  struct cm_diag *diag)
{
	struct cm_inspect_section *all = &inspection->sections[0];
	struct cm_rank_total *totals = calloc(all->n_ranks + 1, sizeof(*totals));
	size_t g, n;

	if (!totals)
		return out_of_memory(diag);
	for (g = 0; g < gather->n_groups; g++) {
		n = sum_ranks(inspection->results, gather->entries + gather->groups[g].first,
			      gather->groups[g].n, totals);
		cm_balance_of(&all->regions[g].balance, totals, n, all->n_ranks);
	}
	free(totals);
	return 0;
}

static enum cm_inspect_sort sort_key; /* for qsort's comparison */

/* By the columns of the table over ranks: min, max and avg are of the ranks' totals. */
static double key_of(const struct cm_inspect_region *region)
{
	const struct cm_inspect_balance *balance = &region->balance;

	switch (sort_key) {
	case CM_SORT_CALLS:
		return (double)region->stats.calls;
	case CM_SORT_MIN:
		return (double)balance->min_ns;
	case CM_SORT_MAX:
		return (double)balance->max_ns;
	case CM_SORT_IMBALANCE:
		return isnan(balance->imbalance) ? -1 : balance->imbalance;
	case CM_SORT_LOST:
		return (double)balance->lost_ns;
	case CM_SORT_NAME:
		return 0;
	default:
		return balance->mean_ns;
	}
}

static int compare_regions(const void *a, const void *b)
{
	const struct cm_inspect_region *const *left = a, *const *right = b;
	double left_key = key_of(*left), right_key = key_of(*right);

	if (left_key != right_key)
		return left_key < right_key ? 1 : -1;
	return strcmp((*left)->stats.tag, (*right)->stats.tag);
}

static int order_regions(struct cm_inspection *inspection, enum cm_inspect_sort sort)
{
	const struct cm_inspect_section *all = &inspection->sections[0];
	size_t i;

	inspection->by_balance = calloc(all->n_regions + 1, sizeof(*inspection->by_balance));
	if (!inspection->by_balance)
		return -ENOMEM;
	for (i = 0; i < all->n_regions; i++)
		inspection->by_balance[i] = &all->regions[i];
	sort_key = sort;
	qsort(inspection->by_balance, all->n_regions, sizeof(*inspection->by_balance),
	      compare_regions);
	return 0;
}

static int merge_counters(struct cm_inspection *inspection, const struct cm_filter *filter,
			  struct cm_diag *diag)
{
	struct cm_inspect_section *all = &inspection->sections[0];
	const struct cm_result_rank **ranks = calloc(inspection->n_sections, sizeof(*ranks));
	struct cm_result_rank side_by_side = {0};
	size_t i, n = 0;
	int rc;

	if (!ranks)
		return out_of_memory(diag);
	for (i = 0; i < inspection->n_sections; i++)
		if (inspection->sections[i].rank)
			ranks[n++] = inspection->sections[i].rank;
	rc = cm_merged_counters_build(&inspection->merged, ranks, n, diag);
	free(ranks);
	if (rc < 0)
		return rc;
	side_by_side.counters = inspection->merged.counters;
	side_by_side.n_counters = inspection->merged.n;
	return cm_counter_tables_build(&all->counters, &side_by_side, filter, all, diag);
}

int cm_ranks_finish(struct cm_inspection *inspection, const struct cm_inspect_options *options,
		    struct cm_diag *diag)
{
	if (inspection->n_sections < 2)
		return 0;
	if (order_regions(inspection, options->sort) < 0)
		return out_of_memory(diag);
	return merge_counters(inspection, &options->selection.filter, diag);
}
