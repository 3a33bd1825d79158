/* SPDX-License-Identifier: BSD-3-Clause */
/* An inspection as JSON, written piece by piece. */
#include "cli/inspect-json.h"

#include <errno.h>
#include <math.h>

#include "cli/inspect-callers.h"
#include "cli/inspect-json-counters.h"
#include "cli/inspect-json-ranks.h"
#include "cli/json-build.h"

static json_t *percentile_of(struct cm_json *json, const struct cm_inspect_percentile *percentile)
{
	json_t *object;

	if (isnan(percentile->ns))
		return json_null();
	object = json_object();
	/* An exact one below 2^53 ns (104 days) is exact in a double, too. */
	cm_json_set(
		json, object, "ns",
		cm_json_unsigned(percentile->ns < 0x1p63 ? (uint64_t)percentile->ns : INT64_MAX));
	cm_json_set(json, object, "exact", json_boolean(percentile->is_exact));
	return object;
}

static void set_times(struct cm_json *json, json_t *object, const struct cm_inspect_region *region)
{
	bool has_times = region->n_completed;

	cm_json_set(json, object, "total_ns", json_integer(region->stats.total_ns));
	cm_json_set(json, object, "min_ns",
		    has_times ? json_integer(region->stats.min_ns) : json_null());
	cm_json_set(json, object, "max_ns",
		    has_times ? json_integer(region->stats.max_ns) : json_null());
	cm_json_set(json, object, "avg_ns", cm_json_real(region->avg_ns));
	cm_json_set(json, object, "std_ns", cm_json_real(region->std_ns));
	cm_json_set(json, object, "share", cm_json_real(region->share));
	cm_json_set(json, object, "p50", percentile_of(json, &region->percentiles[0]));
	cm_json_set(json, object, "p95", percentile_of(json, &region->percentiles[1]));
	cm_json_set(json, object, "p99", percentile_of(json, &region->percentiles[2]));
}

static json_t *region_of(struct cm_json *json, const struct cm_inspect_region *region)
{
	const struct cm_profile_region *stats = &region->stats;
	json_t *object = json_object();

	cm_json_set(json, object, "tag", cm_json_text(stats->tag));
	cm_json_set(json, object, "library", cm_json_text(stats->library));
	cm_json_set(json, object, "symbols", cm_json_texts(json, stats->symbols, stats->n_symbols));
	cm_json_set(json, object, "source_file",
		    stats->source_file ? cm_json_text(stats->source_file) : json_null());
	cm_json_set(json, object, "source_lineno",
		    stats->source_file ? json_integer(stats->source_lineno) : json_null());
	cm_json_set(json, object, "n_ranks", cm_json_unsigned(region->n_ranks));
	cm_json_set(json, object, "calls", cm_json_unsigned(stats->calls));
	cm_json_set(json, object, "completed", cm_json_unsigned(region->n_completed));
	cm_json_set(json, object, "traced", cm_json_unsigned(region->n_traced));
	set_times(json, object, region);
	cm_json_set(json, object, "tool_ns", json_integer(stats->tool_ns));
	cm_json_set(json, object, "unwound", cm_json_unsigned(stats->unwound));
	cm_json_set(json, object, "skipped", cm_json_unsigned(stats->skipped));
	cm_json_set(json, object, "open", cm_json_unsigned(stats->open));
	cm_json_set(json, object, "dropped_events", cm_json_unsigned(stats->dropped_events));
	cm_json_set(json, object, "backwards", cm_json_unsigned(region->n_backwards));
	cm_json_set(json, object, "histogram",
		    cm_json_histogram(json, stats->histogram, CM_PROFILE_N_BUCKETS));
	return object;
}

static json_t *threads_of(struct cm_json *json, const struct cm_result_rank *rank)
{
	const struct cm_profile_thread *thread = rank->threads;
	json_t *array = json_array(), *object;

	for (; thread < rank->threads + rank->n_threads; thread++) {
		object = json_object();
		cm_json_set(json, object, "tid", json_integer(thread->tid));
		cm_json_set(json, object, "name", cm_json_text(thread->name));
		cm_json_set(json, object, "first_ns", json_integer(thread->first_ns));
		cm_json_set(json, object, "last_ns", json_integer(thread->last_ns));
		cm_json_set(json, object, "cpus", cm_json_text(thread->cpus));
		cm_json_push(json, array, object);
	}
	return array;
}

static void set_rank(struct cm_json *json, json_t *object, const struct cm_inspect_section *section)
{
	const struct cm_result_rank *rank = section->rank;

	cm_json_set(json, object, "rank", json_integer(rank->rank));
	cm_json_set(json, object, "hostname", cm_json_text(rank->hostname));
	cm_json_set(json, object, "pid", json_integer(rank->pid));
	cm_json_set(json, object, "executable", cm_json_text(rank->executable));
	cm_json_set(json, object, "command_line",
		    cm_json_texts(json, rank->command_line, rank->n_command_line));
	cm_json_set(json, object, "exit_status",
		    rank->has_exit_status ? json_integer(rank->exit_status) : json_null());
	cm_json_set(json, object, "clock", cm_json_text(rank->clock));
	cm_json_set(json, object, "monotonic_to_realtime_ns",
		    json_integer(rank->monotonic_to_realtime_ns));
	cm_json_set(json, object, "overhead_ns_per_call", cm_json_real(rank->overhead_ns_per_call));
	cm_json_set(json, object, "never_called",
		    cm_json_texts(json, rank->never_called, rank->n_never_called));
	cm_json_set(json, object, "notes", cm_json_texts(json, rank->notes, rank->n_notes));
	cm_json_set(json, object, "threads", threads_of(json, rank));
	cm_inspect_json_place(json, object, &section->place);
}

/* The members of the section that are the same over all ranks and for one. */
static void write_section(struct cm_json *json, const struct cm_inspection *inspection,
			  const struct cm_inspect_section *section, bool is_all)
{
	json_t *object = json_object(), *region;
	size_t i;

	if (!is_all)
		set_rank(json, object, section);
	cm_json_set(json, object, "n_ranks", cm_json_unsigned(section->n_ranks));
	cm_json_set(json, object, "profiled_ns",
		    section->profiled_ns ? cm_json_unsigned(section->profiled_ns) : json_null());
	cm_json_set(json, object, "complete", json_boolean(section->is_complete));
	cm_json_set(json, object, "untimed_calls", cm_json_unsigned(section->n_untimed));
	fputc('{', json->out);
	cm_json_dump(json, object, JSON_EMBED);
	fputs(",\"regions\":[", json->out);
	for (i = 0; i < section->n_regions; i++) {
		fputs(i ? ",\n" : "\n", json->out);
		region = region_of(json, &section->regions[i]);
		if (is_all)
			cm_json_set(
				json, region, "over_ranks",
				cm_inspect_json_balance(json, inspection, &section->regions[i]));
		else
			cm_inspect_json_span(json, region, &section->place, &section->regions[i]);
		cm_json_dump(json, region, 0);
	}
	fputc(']', json->out);
	if (is_all)
		cm_inspect_json_merged(json, inspection);
	else
		cm_inspect_json_counters(json, section);
	fputc('}', json->out);
}

static json_t *metadata_of(struct cm_json *json, const struct cm_results *results)
{
	const struct cm_meta *meta;
	json_t *object = json_object(), *value;
	size_t n, i;

	meta = cm_results_metadata(results, &n);
	for (i = 0; i < n; i++, meta++) {
		if (meta->kind == CM_META_INT)
			value = json_integer(meta->integer);
		else if (meta->kind == CM_META_STRINGS)
			value = cm_json_texts(json, meta->strings, meta->n_strings);
		else
			value = cm_json_text(meta->string);
		cm_json_set_named(json, object, meta->name, value);
	}
	return object;
}

static void write_head(struct cm_json *json, const char *path,
		       const struct cm_inspection *inspection)
{
	const struct cm_results *results = inspection->results;
	json_t *object = json_object(), *missing = json_array();
	const int64_t *ranks;
	int64_t zero_ns;
	size_t n, i;

	ranks = cm_results_missing_ranks(results, &n);
	for (i = 0; i < n; i++)
		cm_json_push(json, missing, json_integer(ranks[i]));
	cm_json_set(json, object, "callmark_inspect", json_integer(1));
	cm_json_set(json, object, "file", cm_json_text(path));
	cm_json_set(json, object, "run_id", cm_json_text(cm_results_run_id(results)));
	cm_json_set(json, object, "callmark_version", cm_json_text(cm_results_version(results)));
	cm_json_set(json, object, "mpi_size", json_integer(cm_results_mpi_size(results)));
	cm_json_set(json, object, "missing_ranks", missing);
	cm_json_set(json, object, "aligned_zero_realtime_ns",
		    cm_axis_zero(inspection, &zero_ns) ? json_integer(zero_ns) : json_null());
	cm_json_set(json, object, "metadata", metadata_of(json, results));
	cm_json_dump(json, object, JSON_EMBED);
}

int cm_inspect_json(FILE *out, const char *path, const struct cm_inspection *inspection,
		    const struct cm_call_trees *callers)
{
	struct cm_json json = {.out = out};
	bool is_first = true;
	size_t i;

	fputc('{', out);
	write_head(&json, path, inspection);
	fputs(",\n\"all_ranks\":", out);
	if (inspection->n_sections)
		write_section(&json, inspection, &inspection->sections[0], true);
	else
		fputs("null", out);
	fputs(",\n\"ranks\":[", out);
	for (i = 0; i < inspection->n_sections; i++) {
		if (!inspection->sections[i].rank)
			continue;
		fputs(is_first ? "\n" : ",\n", out);
		write_section(&json, inspection, &inspection->sections[i], false);
		is_first = false;
	}
	fputc(']', out);
	if (callers)
		cm_inspect_json_callers(&json, callers);
	fputs("}\n", out);
	return json.is_bad && !ferror(out) ? -ENOMEM : 0;
}
