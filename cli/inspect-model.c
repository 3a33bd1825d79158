/* SPDX-License-Identifier: BSD-3-Clause */
/* What `callmark inspect` shows: sections, filtered and sorted regions, sums over ranks. */
#include "cli/inspect-model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-gather.h"
#include "cli/inspect-ranks.h"

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

static uint64_t n_completed(const struct cm_profile_region *stats)
{
	return stats->calls > stats->open ? stats->calls - stats->open : 0;
}

static void set_averages(struct cm_inspect_region *region)
{
	const struct cm_profile_region *stats = &region->stats;
	long double mean, variance;

	region->n_completed = n_completed(stats);
	region->avg_ns = region->std_ns = NAN;
	if (!region->n_completed)
		return;
	mean = (long double)stats->total_ns / (long double)region->n_completed;
	variance = (long double)stats->sum_sq_ns2 / (long double)region->n_completed - mean * mean;
	region->avg_ns = (double)mean;
	/* Rounding of the sum can make the variance of equal durations a little negative. */
	region->std_ns = variance > 0 ? (double)sqrtl(variance) : variance <= 0 ? 0 : NAN;
}

/* One rank's section, without percentiles and shares. */
static int fill_rank(struct cm_inspect_section *section, const struct cm_result_rank *rank,
		     size_t rank_idx, const struct cm_filter *filter, struct cm_diag *diag)
{
	struct cm_inspect_region *region;
	size_t i;

	section->rank = rank;
	section->rank_idx = rank_idx;
	section->n_ranks = 1;
	section->n_untimed = rank->n_dropped;
	section->is_complete = true;
	section->regions = calloc(rank->n_regions + 1, sizeof(*section->regions));
	if (!section->regions)
		return out_of_memory(diag);
	for (i = 0; i < rank->n_regions; i++) {
		if (rank->regions[i].n_calls < n_completed(&rank->regions[i].stats))
			section->is_complete = false;
		if (!cm_filter_matches(filter, rank->regions[i].stats.tag)) {
			section->n_hidden++;
			continue;
		}
		region = &section->regions[section->n_regions++];
		region->stats = rank->regions[i].stats;
		region->region_idx = i;
		region->n_traced = rank->regions[i].n_calls;
		region->n_ranks = 1;
		set_averages(region);
	}
	return 0;
}

/* Sum `from` into `sum`, which holds another rank's numbers of the same tag. */
static void add_region(struct cm_inspect_region *sum, const struct cm_inspect_region *from)
{
	struct cm_profile_region *to = &sum->stats;
	const struct cm_profile_region *stats = &from->stats;
	size_t b;

	if (from->n_completed) {
		if (!sum->n_completed || stats->min_ns < to->min_ns)
			to->min_ns = stats->min_ns;
		if (!sum->n_completed || stats->max_ns > to->max_ns)
			to->max_ns = stats->max_ns;
	}
	if (__builtin_add_overflow(to->total_ns, stats->total_ns, &to->total_ns))
		to->total_ns = INT64_MAX;
	if (__builtin_add_overflow(to->tool_ns, stats->tool_ns, &to->tool_ns))
		to->tool_ns = INT64_MAX;
	to->calls = add(to->calls, stats->calls);
	to->sum_sq_ns2 += stats->sum_sq_ns2;
	to->unwound = add(to->unwound, stats->unwound);
	to->skipped = add(to->skipped, stats->skipped);
	to->open = add(to->open, stats->open);
	to->dropped_events = add(to->dropped_events, stats->dropped_events);
	for (b = 0; b < CM_PROFILE_N_BUCKETS; b++)
		to->histogram[b] = add(to->histogram[b], stats->histogram[b]);
	if (strcmp(to->library, stats->library))
		to->library = "";
	sum->n_traced = add(sum->n_traced, from->n_traced);
	sum->n_backwards = add(sum->n_backwards, from->n_backwards);
	sum->n_completed = add(sum->n_completed, from->n_completed);
}

/* The section over all ranks from the groups that were gathered; percentiles are the groups'. */
static int fill_all(struct cm_inspection *inspection, const struct cm_gather *gather,
		    struct cm_diag *diag)
{
	struct cm_inspect_section *all = &inspection->sections[0];
	const struct cm_gather_entry *entry;
	struct cm_inspect_region *sum;
	size_t i, g;

	all->regions = calloc(gather->n_groups + 1, sizeof(*all->regions));
	if (!all->regions)
		return out_of_memory(diag);
	all->n_regions = gather->n_groups;
	for (g = 0; g < gather->n_groups; g++) {
		sum = &all->regions[g];
		entry = &gather->entries[gather->groups[g].first];
		*sum = *entry->region;
		for (i = 1; i < gather->groups[g].n; i++) {
			add_region(sum, entry[i].region);
			sum->n_ranks += entry[i].rank_idx != entry[i - 1].rank_idx;
		}
		memcpy(sum->percentiles, gather->groups[g].percentiles, sizeof(sum->percentiles));
		set_averages(sum);
		sum->has_span = false;
	}
	return cm_ranks_set_balances(inspection, gather, diag);
}

/* What the sections of ranks sum up to. */
static void sum_sections(struct cm_inspection *inspection)
{
	struct cm_inspect_section *all = &inspection->sections[0], *section;

	all->is_complete = true;
	for (section = all + 1; section < inspection->sections + inspection->n_sections;
	     section++) {
		all->n_ranks++;
		all->is_complete = all->is_complete && section->is_complete;
		all->n_untimed = add(all->n_untimed, section->n_untimed);
		all->profiled_ns = add(all->profiled_ns, section->profiled_ns);
		if (section->n_hidden > all->n_hidden)
			all->n_hidden = section->n_hidden;
	}
}

static enum cm_inspect_sort sort_key; /* for qsort's comparison */

static double key_of(const struct cm_inspect_region *region)
{
	switch (sort_key) {
	case CM_SORT_CALLS:
		return (double)region->stats.calls;
	case CM_SORT_AVG:
		return isnan(region->avg_ns) ? -1 : region->avg_ns;
	case CM_SORT_MIN:
		return region->n_completed ? (double)region->stats.min_ns : -1;
	case CM_SORT_MAX:
		return region->n_completed ? (double)region->stats.max_ns : -1;
	case CM_SORT_IMBALANCE:
		return isnan(region->balance.imbalance) ? -1 : region->balance.imbalance;
	case CM_SORT_LOST:
		return (double)region->balance.lost_ns;
	case CM_SORT_TOTAL:
		return (double)region->stats.total_ns;
	default:
		return 0;
	}
}

static int compare_regions(const void *a, const void *b)
{
	const struct cm_inspect_region *left = a, *right = b;
	double left_key = key_of(left), right_key = key_of(right);

	if (left_key != right_key)
		return left_key < right_key ? 1 : -1;
	return strcmp(left->stats.tag, right->stats.tag);
}

static double share_of(const struct cm_inspect_section *section,
		       const struct cm_inspect_region *region)
{
	double share;

	if (!section->profiled_ns)
		return NAN;
	share = (double)region->stats.total_ns / (double)section->profiled_ns;
	/* More than all, of a time that the trace saw only a part of: it means nothing. */
	return share > 1 && !section->is_complete ? NAN : share;
}

static void finish_section(struct cm_inspect_section *section, enum cm_inspect_sort sort)
{
	size_t i;

	sort_key = sort;
	if (section->rank && (sort == CM_SORT_IMBALANCE || sort == CM_SORT_LOST))
		sort_key = CM_SORT_TOTAL; /* one rank has neither */
	for (i = 0; i < section->n_regions; i++)
		section->regions[i].share = share_of(section, &section->regions[i]);
	qsort(section->regions, section->n_regions, sizeof(*section->regions), compare_regions);
}

/* The sections of the ranks asked for; the first one stays empty where there are several. */
static int add_sections(struct cm_inspection *inspection, const struct cm_inspect_options *options,
			struct cm_diag *diag)
{
	size_t n_ranks = cm_results_n_ranks(inspection->results), i, n = 0;
	const struct cm_result_rank *rank;
	int rc = 0;

	inspection->sections = calloc(n_ranks + 1, sizeof(*inspection->sections));
	if (!inspection->sections)
		return out_of_memory(diag);
	for (i = 0; i < n_ranks; i++)
		n += cm_rank_set_has(&options->selection.ranks,
				     cm_results_rank(inspection->results, i)->rank);
	inspection->n_sections = n > 1;
	for (i = 0; rc >= 0 && i < n_ranks; i++) {
		rank = cm_results_rank(inspection->results, i);
		if (cm_rank_set_has(&options->selection.ranks, rank->rank))
			rc = fill_rank(&inspection->sections[inspection->n_sections++], rank, i,
				       &options->selection.filter, diag);
	}
	return rc;
}

int cm_inspection_build(struct cm_inspection *inspection, struct cm_results *results,
			const struct cm_inspect_options *options, struct cm_diag *diag)
{
	struct cm_inspect_section *section;
	struct cm_gather gather = {0};
	size_t i;
	int rc;

	inspection->results = results;
	rc = cm_selection_check(&options->selection, results, diag);
	if (rc >= 0)
		rc = add_sections(inspection, options, diag);
	if (rc >= 0)
		rc = cm_gather_build(&gather, inspection,
				     !options->skips_traces &&
					     (!options->is_brief || inspection->n_sections < 2),
				     diag);
	if (rc >= 0 && inspection->n_sections > 1) {
		sum_sections(inspection);
		rc = fill_all(inspection, &gather, diag);
	}
	cm_gather_fini(&gather);
	if (rc < 0)
		return rc;
	cm_axis_build(inspection);
	for (i = 0; rc >= 0 && i < inspection->n_sections; i++) {
		section = &inspection->sections[i];
		finish_section(section, options->sort);
		if (section->rank)
			rc = cm_counter_tables_build(&section->counters, section->rank,
						     &options->selection.filter, section, diag);
	}
	return rc < 0 ? rc : cm_ranks_finish(inspection, options, diag);
}

void cm_inspection_fini(struct cm_inspection *inspection)
{
	size_t i;

	for (i = 0; i < inspection->n_sections; i++) {
		cm_counter_tables_fini(&inspection->sections[i].counters);
		free(inspection->sections[i].regions);
	}
	free(inspection->sections);
	free(inspection->by_balance);
	cm_merged_counters_fini(&inspection->merged);
	inspection->by_balance = NULL;
	inspection->sections = NULL;
	inspection->n_sections = 0;
}
