/* SPDX-License-Identifier: BSD-3-Clause */
/* An inspection as JSON, written piece by piece. */
#include "cli/inspect-json.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cli/text.h"

#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_COMPACT)

/*
 * Building: members are added without looking; a failure anywhere (always memory) leaves a NULL
 * or a missing member, which `is_bad` remembers until the end.
 */
struct builder {
	FILE *out;
	bool is_bad;
};

static void set(struct builder *builder, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		builder->is_bad = true;
}

static void push(struct builder *builder, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		builder->is_bad = true;
}

static json_t *text_of(const char *raw)
{
	json_t *value;
	char *text;

	if (cm_text_repair(raw ? raw : "", &text) < 0)
		return NULL;
	value = json_string(text);
	free(text);
	return value;
}

static json_t *texts_of(struct builder *builder, const char *const *raw, size_t n)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		push(builder, array, text_of(raw[i]));
	return array;
}

static json_t *unsigned_of(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

static json_t *real_of(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *percentile_of(struct builder *builder,
			     const struct cm_inspect_percentile *percentile)
{
	json_t *object;

	if (isnan(percentile->ns))
		return json_null();
	object = json_object();
	/* An exact one below 2^53 ns (104 days) is exact in a double, too. */
	set(builder, object, "ns",
	    unsigned_of(percentile->ns < 0x1p63 ? (uint64_t)percentile->ns : INT64_MAX));
	set(builder, object, "exact", json_boolean(percentile->is_exact));
	return object;
}

static json_t *histogram_of(struct builder *builder, const uint64_t *histogram)
{
	json_t *array = json_array();
	size_t n = CM_PROFILE_N_BUCKETS, i;

	while (n && !histogram[n - 1])
		n--;
	for (i = 0; i < n; i++)
		push(builder, array, unsigned_of(histogram[i]));
	return array;
}

static void set_times(struct builder *builder, json_t *object,
		      const struct cm_inspect_region *region)
{
	bool has_times = region->n_completed;

	set(builder, object, "total_ns", json_integer(region->stats.total_ns));
	set(builder, object, "min_ns",
	    has_times ? json_integer(region->stats.min_ns) : json_null());
	set(builder, object, "max_ns",
	    has_times ? json_integer(region->stats.max_ns) : json_null());
	set(builder, object, "avg_ns", real_of(region->avg_ns));
	set(builder, object, "std_ns", real_of(region->std_ns));
	set(builder, object, "share", real_of(region->share));
	set(builder, object, "p50", percentile_of(builder, &region->percentiles[0]));
	set(builder, object, "p95", percentile_of(builder, &region->percentiles[1]));
	set(builder, object, "p99", percentile_of(builder, &region->percentiles[2]));
}

static json_t *region_of(struct builder *builder, const struct cm_inspect_region *region)
{
	const struct cm_profile_region *stats = &region->stats;
	json_t *object = json_object();

	set(builder, object, "tag", text_of(stats->tag));
	set(builder, object, "library", text_of(stats->library));
	set(builder, object, "symbols", texts_of(builder, stats->symbols, stats->n_symbols));
	set(builder, object, "n_ranks", unsigned_of(region->n_ranks));
	set(builder, object, "calls", unsigned_of(stats->calls));
	set(builder, object, "completed", unsigned_of(region->n_completed));
	set(builder, object, "traced", unsigned_of(region->n_traced));
	set_times(builder, object, region);
	set(builder, object, "tool_ns", json_integer(stats->tool_ns));
	set(builder, object, "unwound", unsigned_of(stats->unwound));
	set(builder, object, "skipped", unsigned_of(stats->skipped));
	set(builder, object, "open", unsigned_of(stats->open));
	set(builder, object, "dropped_events", unsigned_of(stats->dropped_events));
	set(builder, object, "backwards", unsigned_of(region->n_backwards));
	set(builder, object, "histogram", histogram_of(builder, stats->histogram));
	return object;
}

static json_t *threads_of(struct builder *builder, const struct cm_result_rank *rank)
{
	const struct cm_profile_thread *thread = rank->threads;
	json_t *array = json_array(), *object;

	for (; thread < rank->threads + rank->n_threads; thread++) {
		object = json_object();
		set(builder, object, "tid", json_integer(thread->tid));
		set(builder, object, "name", text_of(thread->name));
		set(builder, object, "first_ns", json_integer(thread->first_ns));
		set(builder, object, "last_ns", json_integer(thread->last_ns));
		set(builder, object, "cpus", text_of(thread->cpus));
		push(builder, array, object);
	}
	return array;
}

static void set_rank(struct builder *builder, json_t *object, const struct cm_result_rank *rank)
{
	set(builder, object, "rank", json_integer(rank->rank));
	set(builder, object, "hostname", text_of(rank->hostname));
	set(builder, object, "pid", json_integer(rank->pid));
	set(builder, object, "executable", text_of(rank->executable));
	set(builder, object, "command_line",
	    texts_of(builder, rank->command_line, rank->n_command_line));
	set(builder, object, "exit_status",
	    rank->has_exit_status ? json_integer(rank->exit_status) : json_null());
	set(builder, object, "clock", text_of(rank->clock));
	set(builder, object, "monotonic_to_realtime_ns",
	    json_integer(rank->monotonic_to_realtime_ns));
	set(builder, object, "overhead_ns_per_call", real_of(rank->overhead_ns_per_call));
	set(builder, object, "never_called",
	    texts_of(builder, rank->never_called, rank->n_never_called));
	set(builder, object, "notes", texts_of(builder, rank->notes, rank->n_notes));
	set(builder, object, "threads", threads_of(builder, rank));
}

/* Print and give up the value; `flags` may add JSON_EMBED: an object without its braces. */
static void dump(struct builder *builder, json_t *value, size_t flags)
{
	if (!value || json_dumpf(value, builder->out, DUMP_FLAGS | flags) < 0)
		builder->is_bad = true;
	json_decref(value);
}

/* The members of the section that are the same over all ranks and for one. */
static void write_section(struct builder *builder, const struct cm_inspect_section *section,
			  bool is_all)
{
	json_t *object = json_object();
	size_t i;

	if (!is_all)
		set_rank(builder, object, section->rank);
	set(builder, object, "n_ranks", unsigned_of(section->n_ranks));
	set(builder, object, "profiled_ns",
	    section->profiled_ns ? unsigned_of(section->profiled_ns) : json_null());
	set(builder, object, "complete", json_boolean(section->is_complete));
	set(builder, object, "untimed_calls", unsigned_of(section->n_untimed));
	fputc('{', builder->out);
	dump(builder, object, JSON_EMBED);
	fputs(",\"regions\":[", builder->out);
	for (i = 0; i < section->n_regions; i++) {
		fputs(i ? ",\n" : "\n", builder->out);
		dump(builder, region_of(builder, &section->regions[i]), 0);
	}
	fputs("]}", builder->out);
}

static json_t *metadata_of(struct builder *builder, const struct cm_results *results)
{
	const struct cm_meta *meta;
	json_t *object = json_object(), *value;
	char *name;
	size_t n, i;

	meta = cm_results_metadata(results, &n);
	for (i = 0; i < n; i++, meta++) {
		if (meta->kind == CM_META_INT)
			value = json_integer(meta->integer);
		else if (meta->kind == CM_META_STRINGS)
			value = texts_of(builder, meta->strings, meta->n_strings);
		else
			value = text_of(meta->string);
		if (cm_text_repair(meta->name, &name) < 0) {
			builder->is_bad = true;
			json_decref(value);
			continue;
		}
		set(builder, object, name, value);
		free(name);
	}
	return object;
}

static void write_head(struct builder *builder, const char *path, const struct cm_results *results)
{
	json_t *object = json_object(), *missing = json_array();
	const int64_t *ranks;
	size_t n, i;

	ranks = cm_results_missing_ranks(results, &n);
	for (i = 0; i < n; i++)
		push(builder, missing, json_integer(ranks[i]));
	set(builder, object, "callmark_inspect", json_integer(1));
	set(builder, object, "file", text_of(path));
	set(builder, object, "run_id", text_of(cm_results_run_id(results)));
	set(builder, object, "callmark_version", text_of(cm_results_version(results)));
	set(builder, object, "mpi_size", json_integer(cm_results_mpi_size(results)));
	set(builder, object, "missing_ranks", missing);
	set(builder, object, "metadata", metadata_of(builder, results));
	dump(builder, object, JSON_EMBED);
}

int cm_inspect_json(FILE *out, const char *path, const struct cm_inspection *inspection)
{
	struct builder builder = {.out = out};
	bool is_first = true;
	size_t i;

	fputc('{', out);
	write_head(&builder, path, inspection->results);
	fputs(",\n\"all_ranks\":", out);
	if (inspection->n_sections)
		write_section(&builder, &inspection->sections[0], true);
	else
		fputs("null", out);
	fputs(",\n\"ranks\":[", out);
	for (i = 0; i < inspection->n_sections; i++) {
		if (!inspection->sections[i].rank)
			continue;
		fputs(is_first ? "\n" : ",\n", out);
		write_section(&builder, &inspection->sections[i], false);
		is_first = false;
	}
	fputs("]}\n", out);
	return builder.is_bad && !ferror(out) ? -ENOMEM : 0;
}
