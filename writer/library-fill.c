/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank as callmark/results.h shows it. */
#include "writer/library.h"

#include <errno.h>

#include "writer/event-label.h"

static int fill_threads(struct cm_text_store *store, const struct cm_result_rank *from,
			struct cm_library_rank *rank)
{
	rank->threads = cm_text_store_alloc(store, from->n_threads, sizeof(*rank->threads));
	if (!rank->threads)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_threads; i++) {
		const struct cm_profile_thread *thread = &from->threads[i];

		rank->threads[i] = (struct callmark_results_thread){
			.tid = thread->tid,
			.name = thread->name,
			.first_ns = thread->first_ns,
			.last_ns = thread->last_ns,
			.cpus = thread->cpus,
		};
	}
	rank->shown.n_threads = from->n_threads;
	return 0;
}

static struct callmark_results_region show_region(const struct cm_result_region *region)
{
	const struct cm_profile_region *stats = &region->stats;

	return (struct callmark_results_region){
		.tag = stats->tag,
		.library = stats->library,
		.symbols = stats->symbols,
		.n_symbols = stats->n_symbols,
		.has_statistics = region->has_stats,
		.calls = stats->calls,
		.n_traced = region->n_calls,
		.total_ns = stats->total_ns,
		.min_ns = stats->min_ns,
		.max_ns = stats->max_ns,
		.sum_sq_ns2 = stats->sum_sq_ns2,
		.tool_ns = stats->tool_ns,
		.unwound = stats->unwound,
		.skipped = stats->skipped,
		.open = stats->open,
		.dropped_events = stats->dropped_events,
		.max_events = stats->max_events,
		.histogram = stats->histogram,
		.source_file = stats->source_file ? stats->source_file : "",
		.source_lineno = stats->source_lineno,
		.has_call_paths = stats->has_paths,
		.n_call_paths = stats->n_paths,
		.call_path_frames = stats->path_frames,
		.call_path_calls = stats->path_calls,
		.call_path_total_ns = stats->path_total_ns,
	};
}

static int fill_regions(struct cm_text_store *store, const struct cm_result_rank *from, size_t idx,
			struct cm_library_rank *rank)
{
	_Static_assert(CALLMARK_RESULTS_N_BUCKETS == CM_PROFILE_N_BUCKETS, "the same histogram");
	rank->regions = cm_text_store_alloc(store, from->n_regions, sizeof(*rank->regions));
	if (!rank->regions)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_regions; i++)
		rank->regions[i] = (struct cm_library_region){
			.shown = show_region(&from->regions[i]),
			.rank_idx = idx,
			.region_idx = i,
		};
	rank->shown.n_regions = from->n_regions;
	return 0;
}

/* Texts that are never NULL. */
static const char *const *no_names(struct cm_text_store *store, size_t n)
{
	const char **names = cm_text_store_alloc(store, n, sizeof(*names));

	for (size_t i = 0; names && i < n; i++)
		names[i] = "";
	return names;
}

static int fill_counters(struct cm_text_store *store, const struct cm_profile_counters *from,
			 struct callmark_results_likwid *likwid)
{
	*likwid = (struct callmark_results_likwid){
		.tag = from->tag,
		.group_id = from->group_id,
		.group_name = from->group_name,
		.source = from->source,
		.n_cpus = from->n_cpus,
		.cpus = from->cpus,
		.times_s = from->times,
		.call_counts = from->call_counts,
		.n_events = from->n_events,
		.event_names = from->event_names,
		.counter_names =
			from->counter_names ? from->counter_names : no_names(store, from->n_events),
		.events = from->events,
		.n_metrics = from->n_metrics,
		.metric_names = from->metric_names,
		.metrics = from->metrics,
	};
	if (!likwid->counter_names)
		return -ENOMEM;
	return cm_event_labels_new(from, store, &likwid->event_labels);
}

static int fill_variables(struct cm_text_store *store, const struct cm_result_rank *from,
			  struct callmark_results_rank *shown)
{
	size_t n = from->n_likwid_environment;
	const char **names = cm_text_store_alloc(store, n, sizeof(*names));
	const char **values = cm_text_store_alloc(store, n, sizeof(*values));

	if (!names || !values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		names[i] = from->likwid_environment[i].name;
		values[i] = from->likwid_environment[i].string;
	}
	shown->likwid_variables = names;
	shown->likwid_values = values;
	shown->n_likwid_variables = n;
	return 0;
}

static int fill_skips(struct cm_text_store *store, const struct cm_result_rank *from,
		      struct callmark_results_rank *shown)
{
	const char **reasons = cm_text_store_alloc(store, from->n_skips, sizeof(*reasons));
	int64_t *counts = cm_text_store_alloc(store, from->n_skips, sizeof(*counts));

	if (!reasons || !counts)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_skips; i++) {
		reasons[i] = from->skips[i].reason;
		counts[i] = from->skips[i].n;
	}
	shown->skip_reasons = reasons;
	shown->skip_counts = counts;
	shown->n_skips = from->n_skips;
	return 0;
}

static int fill_likwid(struct cm_text_store *store, const struct cm_result_rank *from,
		       struct cm_library_rank *rank)
{
	int rc = fill_variables(store, from, &rank->shown);

	if (rc == 0)
		rc = fill_skips(store, from, &rank->shown);
	rank->likwid = cm_text_store_alloc(store, from->n_counters, sizeof(*rank->likwid));
	if (!rank->likwid)
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < from->n_counters; i++)
		rc = fill_counters(store, &from->counters[i], &rank->likwid[i]);
	rank->shown.n_likwid = from->n_counters;
	return rc;
}

static struct callmark_results_rank show_rank(const struct cm_result_rank *from)
{
	return (struct callmark_results_rank){
		.rank = from->rank,
		.hostname = from->hostname,
		.executable = from->executable,
		.clock = from->clock,
		.pid = from->pid,
		.has_exit_status = from->has_exit_status,
		.exit_status = from->exit_status,
		.monotonic_to_realtime_ns = from->monotonic_to_realtime_ns,
		.overhead_ns_per_call = from->overhead_ns_per_call,
		.dropped_events = from->n_dropped,
		.command_line = from->command_line,
		.n_command_line = from->n_command_line,
		.never_called = from->never_called,
		.n_never_called = from->n_never_called,
		.notes = from->notes,
		.n_notes = from->n_notes,
		.has_likwid = from->has_likwid,
		.likwid_cpu_name = from->likwid_cpu_name,
		.likwid_fallback = from->likwid_fallback,
	};
}

int cm_library_fill_rank(struct callmark_results *results, size_t idx)
{
	const struct cm_result_rank *from = cm_results_rank(results->loaded, idx);
	struct cm_library_rank *rank = &results->ranks[idx];
	int rc;

	rank->shown = show_rank(from);
	rc = fill_threads(&results->store, from, rank);
	if (rc == 0)
		rc = fill_regions(&results->store, from, idx, rank);
	return rc < 0 ? rc : fill_likwid(&results->store, from, rank);
}
