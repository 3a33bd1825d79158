/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups regions by tag, reads their traces once for each, works out percentiles and spans. */
#include "cli/inspect-gather.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-trace.h"

/* The complete traces of a group; the region that part i belongs to. */
struct parts {
	struct cm_trace_part *parts;
	struct cm_inspect_region **regions;
	size_t n;
	bool are_all; /* every entry with a completed call is among them */
};

static int out_of_memory(struct cm_diag *diag)
{
	return cm_diag_set(diag, -ENOMEM, "out of memory");
}

static int compare_entries(const void *a, const void *b)
{
	const struct cm_gather_entry *left = a, *right = b;
	int order = strcmp(left->region->stats.tag, right->region->stats.tag);

	if (order)
		return order;
	if (left->rank_idx != right->rank_idx)
		return left->rank_idx < right->rank_idx ? -1 : 1;
	return (left->region > right->region) - (left->region < right->region);
}

static int add_entries(struct cm_gather *gather, struct cm_inspection *inspection,
		       struct cm_diag *diag)
{
	struct cm_inspect_section *section;
	size_t n = 0, i, k;

	for (i = 0; i < inspection->n_sections; i++)
		n += inspection->sections[i].n_regions;
	gather->entries = calloc(n + 1, sizeof(*gather->entries));
	gather->groups = calloc(n + 1, sizeof(*gather->groups));
	if (!gather->entries || !gather->groups)
		return out_of_memory(diag);
	for (i = 0; i < inspection->n_sections; i++) {
		section = &inspection->sections[i];
		for (k = 0; k < section->n_regions; k++)
			gather->entries[gather->n_entries++] =
				(struct cm_gather_entry){&section->regions[k], section->rank_idx};
	}
	qsort(gather->entries, n, sizeof(*gather->entries), compare_entries);
	for (i = 0; i < n; i++) {
		if (!i || strcmp(gather->entries[i - 1].region->stats.tag,
				 gather->entries[i].region->stats.tag))
			gather->groups[gather->n_groups++].first = i;
		gather->groups[gather->n_groups - 1].n++;
	}
	return 0;
}

/* parts has room for all entries of the group. */
static void find_parts(const struct cm_gather *gather, const struct cm_gather_group *group,
		       struct parts *parts)
{
	const struct cm_gather_entry *entry = &gather->entries[group->first];
	size_t i;

	parts->n = 0;
	parts->are_all = true;
	for (i = 0; i < group->n; i++, entry++) {
		if (!entry->region->n_completed)
			continue;
		if (entry->region->n_traced != entry->region->n_completed) {
			parts->are_all = false;
			continue;
		}
		parts->regions[parts->n] = entry->region;
		parts->parts[parts->n++] = (struct cm_trace_part){
			.rank_idx = entry->rank_idx,
			.region_idx = entry->region->region_idx,
			.n = entry->region->n_traced,
		};
	}
	parts->are_all = parts->are_all && parts->n;
}

static void estimate(struct cm_inspect_percentile *percentiles,
		     const struct cm_profile_region *stats)
{
	size_t i;

	for (i = 0; i < CM_N_PERCENTILES; i++) {
		percentiles[i].ns = cm_percentile_estimate(stats->histogram, stats->min_ns,
							   stats->max_ns, cm_percentiles[i]);
		percentiles[i].is_exact = false;
	}
}

static void estimate_group(const struct cm_gather *gather, struct cm_gather_group *group)
{
	const struct cm_gather_entry *entry = &gather->entries[group->first];
	struct cm_profile_region sum = {.min_ns = INT64_MAX, .max_ns = INT64_MIN};
	const struct cm_profile_region *stats;
	size_t i, b;

	for (i = 0; i < group->n; i++, entry++) {
		stats = &entry->region->stats;
		if (!entry->region->n_completed)
			continue;
		for (b = 0; b < CM_PROFILE_N_BUCKETS; b++)
			sum.histogram[b] += stats->histogram[b];
		sum.min_ns = stats->min_ns < sum.min_ns ? stats->min_ns : sum.min_ns;
		sum.max_ns = stats->max_ns > sum.max_ns ? stats->max_ns : sum.max_ns;
	}
	estimate(group->percentiles, &sum);
}

static int select_from(struct cm_trace *trace, size_t first, size_t n,
		       struct cm_inspect_percentile *ret_percentiles, struct cm_diag *diag)
{
	struct cm_durations durations;
	uint64_t ns[CM_N_PERCENTILES];
	size_t i;
	int rc;

	cm_trace_durations(trace, first, n, &durations);
	rc = cm_percentile_select(&durations, ns, diag);
	for (i = 0; rc >= 0 && i < CM_N_PERCENTILES; i++)
		ret_percentiles[i] = (struct cm_inspect_percentile){(double)ns[i], true};
	return rc;
}

static int read_parts(struct cm_results *results, struct parts *parts,
		      struct cm_gather_group *group, struct cm_trace_progress *progress,
		      struct cm_diag *diag)
{
	struct cm_trace *trace;
	size_t i;
	int rc;

	rc = cm_trace_open(&trace, results, parts->parts, parts->n, progress, diag);
	if (rc < 0)
		return rc;
	for (i = 0; rc >= 0 && i < parts->n; i++) {
		rc = select_from(trace, i, 1, parts->regions[i]->percentiles, diag);
		parts->regions[i]->n_backwards = parts->parts[i].n_backwards;
		parts->regions[i]->has_span = true;
		parts->regions[i]->first_ns = parts->parts[i].first_ns;
		parts->regions[i]->last_ns = parts->parts[i].last_ns;
	}
	if (rc >= 0 && parts->are_all && parts->n > 1)
		rc = select_from(trace, 0, parts->n, group->percentiles, diag);
	else if (rc >= 0 && parts->are_all)
		memcpy(group->percentiles, parts->regions[0]->percentiles,
		       sizeof(group->percentiles));
	cm_trace_close(trace);
	return rc;
}

static void set_estimates(struct cm_gather *gather)
{
	size_t i;

	for (i = 0; i < gather->n_entries; i++)
		estimate(gather->entries[i].region->percentiles, &gather->entries[i].region->stats);
	for (i = 0; i < gather->n_groups; i++)
		estimate_group(gather, &gather->groups[i]);
}

/* In place of the estimates, where traces are complete. */
static int set_percentiles(struct cm_gather *gather, struct cm_results *results,
			   struct parts *parts, struct cm_trace_progress *progress,
			   struct cm_diag *diag)
{
	size_t g;
	int rc;

	for (g = 0; g < gather->n_groups; g++) {
		find_parts(gather, &gather->groups[g], parts);
		progress->total += cm_trace_expected_rows(parts->parts, parts->n);
	}
	for (g = 0; g < gather->n_groups; g++) {
		find_parts(gather, &gather->groups[g], parts);
		if (!parts->n)
			continue;
		rc = read_parts(results, parts, &gather->groups[g], progress, diag);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Without thread times (a file of scope-profiler): from the first start to the last end. */
static int span_of_traces(struct cm_results *results, struct cm_inspect_section *section,
			  struct cm_diag *diag)
{
	const struct cm_result_rank *rank = section->rank;
	int64_t first = INT64_MAX, last = INT64_MIN, start, end;
	size_t rank_idx = section->rank_idx;
	uint64_t n;
	size_t i;
	int rc;

	for (i = 0; i < rank->n_regions; i++) {
		n = rank->regions[i].n_calls;
		if (!n)
			continue;
		rc = cm_results_read_calls(results, rank_idx, i, 0, 1, &start, NULL, NULL, diag);
		if (rc >= 0)
			rc = cm_trace_last_end(results, rank_idx, i, n, &end, diag);
		if (rc < 0)
			return rc;
		first = start < first ? start : first;
		last = end > last ? end : last;
	}
	section->profiled_ns = last > first ? (uint64_t)last - (uint64_t)first : 0;
	section->place.has_span = last >= first;
	section->place.first_ns = first;
	section->place.last_ns = last;
	return 0;
}

static void widen_span(struct cm_inspect_place *place, int64_t first_ns, int64_t last_ns)
{
	if (!place->has_span || first_ns < place->first_ns)
		place->first_ns = first_ns;
	if (!place->has_span || last_ns > place->last_ns)
		place->last_ns = last_ns;
	place->has_span = true;
}

static int set_span(struct cm_results *results, struct cm_inspect_section *section,
		    struct cm_diag *diag)
{
	const struct cm_profile_thread *thread;
	uint64_t sum = 0, span;
	size_t i;

	for (i = 0; i < section->rank->n_threads; i++) {
		thread = &section->rank->threads[i];
		if (thread->last_ns <= thread->first_ns)
			continue;
		widen_span(&section->place, thread->first_ns, thread->last_ns);
		span = (uint64_t)thread->last_ns - (uint64_t)thread->first_ns;
		if (__builtin_add_overflow(sum, span, &sum))
			sum = UINT64_MAX;
	}
	section->profiled_ns = sum;
	return sum ? 0 : span_of_traces(results, section, diag);
}

int cm_gather_build(struct cm_gather *gather, struct cm_inspection *inspection, bool reads_traces,
		    struct cm_diag *diag)
{
	struct cm_trace_progress progress = {0};
	struct parts parts = {0};
	size_t i;
	int rc;

	rc = add_entries(gather, inspection, diag);
	if (rc < 0)
		return rc;
	parts.parts = calloc(gather->n_entries + 1, sizeof(*parts.parts));
	parts.regions = calloc(gather->n_entries + 1, sizeof(struct cm_inspect_region *));
	if (!parts.parts || !parts.regions)
		rc = out_of_memory(diag);
	cm_progress_init(&progress.progress, "reading traces");
	if (rc >= 0)
		set_estimates(gather);
	if (rc >= 0 && reads_traces)
		rc = set_percentiles(gather, inspection->results, &parts, &progress, diag);
	for (i = 0; rc >= 0 && i < inspection->n_sections; i++)
		if (inspection->sections[i].rank)
			rc = set_span(inspection->results, &inspection->sections[i], diag);
	cm_progress_fini(&progress.progress);
	free(parts.parts);
	free(parts.regions);
	return rc;
}

void cm_gather_fini(struct cm_gather *gather)
{
	free(gather->entries);
	free(gather->groups);
	memset(gather, 0, sizeof(*gather));
}
