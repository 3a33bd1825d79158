/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters as JSON: what the file has, not what is worked out of it. */
#include "cli/inspect-json-counters.h"

static json_t *environment_of(struct cm_json *json, const struct cm_result_rank *rank)
{
	const struct cm_meta *meta = rank->likwid_environment;
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < rank->n_likwid_environment; i++, meta++)
		cm_json_set_named(json, object, meta->name,
				  meta->kind == CM_META_INT ? json_integer(meta->integer)
							    : cm_json_text(meta->string));
	return object;
}

static json_t *skips_of(struct cm_json *json, const struct cm_result_rank *rank)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < rank->n_skips; i++)
		cm_json_set_named(json, object, rank->skips[i].reason,
				  json_integer(rank->skips[i].n));
	return object;
}

static json_t *integers_of(struct cm_json *json, const int64_t *values, size_t n)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		cm_json_push(json, array, json_integer(values[i]));
	return array;
}

static json_t *numbers_of(struct cm_json *json, const double *values, size_t n)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		cm_json_push(json, array, cm_json_number(values[i]));
	return array;
}

static json_t *matrix_of(struct cm_json *json, const double *values, size_t n_rows,
			 size_t n_columns)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n_rows; i++)
		cm_json_push(json, array, numbers_of(json, values + i * n_columns, n_columns));
	return array;
}

static json_t *region_of(struct cm_json *json, const struct cm_counter_names *names,
			 const struct cm_counter_column *column)
{
	const struct cm_profile_counters *counters = column->counters;
	size_t n_cpus = counters->n_cpus;
	json_t *object = json_object();

	cm_json_set(json, object, "tag", cm_json_text(counters->tag));
	cm_json_set(json, object, "group_id", json_integer(counters->group_id));
	cm_json_set(json, object, "group_name", cm_json_text(counters->group_name));
	cm_json_set(json, object, "source", cm_json_text(counters->source));
	cm_json_set(json, object, "cpus", integers_of(json, counters->cpus, n_cpus));
	cm_json_set(json, object, "call_counts", integers_of(json, counters->call_counts, n_cpus));
	cm_json_set(json, object, "times", numbers_of(json, counters->times, n_cpus));
	cm_json_set(json, object, "event_labels",
		    cm_json_texts(json, cm_counter_labels(names, column->layout, CM_COUNTER_EVENT),
				  counters->n_events));
	cm_json_set(json, object, "event_names",
		    cm_json_texts(json, counters->event_names, counters->n_events));
	cm_json_set(json, object, "counter_names",
		    counters->counter_names
			    ? cm_json_texts(json, counters->counter_names, counters->n_events)
			    : json_null());
	cm_json_set(json, object, "events",
		    matrix_of(json, counters->events, counters->n_events, n_cpus));
	cm_json_set(json, object, "metric_names",
		    cm_json_texts(json, counters->metric_names, counters->n_metrics));
	cm_json_set(json, object, "metrics",
		    matrix_of(json, counters->metrics, counters->n_metrics, n_cpus));
	return object;
}

void cm_inspect_json_counters(struct cm_json *json, const struct cm_inspect_section *section)
{
	const struct cm_result_rank *rank = section->rank;
	const struct cm_counter_table *table = section->counters.tables;
	json_t *object = json_object();
	bool is_first = true;
	size_t i;

	cm_json_set(json, object, "collected", json_boolean(rank->has_likwid));
	cm_json_set(json, object, "cpu_name", cm_json_text(rank->likwid_cpu_name));
	cm_json_set(json, object, "fallback", cm_json_text(rank->likwid_fallback));
	cm_json_set(json, object, "markers_skipped", skips_of(json, rank));
	cm_json_set(json, object, "environment", environment_of(json, rank));
	fputs(",\n\"likwid\":{", json->out);
	cm_json_dump(json, object, JSON_EMBED);
	fputs(",\"regions\":[", json->out);
	for (; table < section->counters.tables + section->counters.n_tables; table++)
		for (i = 0; i < table->n_columns; i++) {
			fputs(is_first ? "\n" : ",\n", json->out);
			is_first = false;
			cm_json_dump(json, region_of(json, &table->names, &table->columns[i]), 0);
		}
	fputs("]}", json->out);
}
