/* SPDX-License-Identifier: BSD-3-Clause */
/* Balances, places on the common axis and counters over ranks as JSON. */
#include "cli/inspect-json-ranks.h"

json_t *cm_inspect_json_balance(struct cm_json *json, const struct cm_inspection *inspection,
				const struct cm_inspect_region *region)
{
	const struct cm_inspect_section *section = &inspection->sections[0];
	struct cm_inspect_balance balance = region->balance;
	struct cm_rank_total own;
	json_t *object = json_object();

	if (section->rank) {
		own = (struct cm_rank_total){section->rank->rank, region->stats.total_ns};
		cm_balance_of(&balance, &own, 1, 1);
	}
	cm_json_set(json, object, "mean_ns", cm_json_real(balance.mean_ns));
	cm_json_set(json, object, "min_ns", json_integer(balance.min_ns));
	cm_json_set(json, object, "max_ns", json_integer(balance.max_ns));
	cm_json_set(json, object, "slowest_rank",
		    balance.slowest < 0 ? json_null() : json_integer(balance.slowest));
	cm_json_set(json, object, "imbalance", cm_json_real(balance.imbalance));
	cm_json_set(json, object, "lost_ns", json_integer(balance.lost_ns));
	return object;
}

static void set_aligned(struct cm_json *json, json_t *object, const struct cm_inspect_place *place,
			const char *name, bool is_known, int64_t ns)
{
	int64_t aligned_ns;

	cm_json_set(json, object, name,
		    is_known && cm_axis_find(place, ns, &aligned_ns) ? json_integer(aligned_ns)
								     : json_null());
}

void cm_inspect_json_place(struct cm_json *json, json_t *object,
			   const struct cm_inspect_place *place)
{
	set_aligned(json, object, place, "aligned_first_ns", place->has_span, place->first_ns);
	set_aligned(json, object, place, "aligned_last_ns", place->has_span, place->last_ns);
}

void cm_inspect_json_span(struct cm_json *json, json_t *object,
			  const struct cm_inspect_place *place,
			  const struct cm_inspect_region *region)
{
	bool has_span = region->has_span;

	cm_json_set(json, object, "first_ns",
		    has_span ? json_integer(region->first_ns) : json_null());
	cm_json_set(json, object, "last_ns",
		    has_span ? json_integer(region->last_ns) : json_null());
	set_aligned(json, object, place, "aligned_first_ns", has_span, region->first_ns);
	set_aligned(json, object, place, "aligned_last_ns", has_span, region->last_ns);
}

/* One value a name, over the hardware threads of all ranks. */
static json_t *numbers_over(struct cm_json *json, const struct cm_profile_counters *counters,
			    const double *values, size_t n, enum cm_counter_over over)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		cm_json_push(json, array,
			     cm_json_number(cm_counters_over(counters,
							     values + i * counters->n_cpus, over)));
	return array;
}

static void set_values(struct cm_json *json, json_t *object,
		       const struct cm_profile_counters *counters)
{
	size_t n_events = counters->n_events, n_metrics = counters->n_metrics;
	struct cm_counter_counts counts;

	cm_counters_counts(counters, &counts);
	cm_json_set(json, object, "n_hardware_threads",
		    cm_json_unsigned(cm_counters_n_entered(counters)));
	cm_json_set(json, object, "call_count", json_integer(counts.sum));
	cm_json_set(json, object, "max_time",
		    cm_json_number(cm_counters_over(counters, counters->times, CM_OVER_MAX)));
	cm_json_set(json, object, "event_sums",
		    numbers_over(json, counters, counters->events, n_events, CM_OVER_SUM));
	cm_json_set(json, object, "metric_means",
		    numbers_over(json, counters, counters->metrics, n_metrics, CM_OVER_MEAN));
	cm_json_set(json, object, "metric_mins",
		    numbers_over(json, counters, counters->metrics, n_metrics, CM_OVER_MIN));
	cm_json_set(json, object, "metric_maxs",
		    numbers_over(json, counters, counters->metrics, n_metrics, CM_OVER_MAX));
}

static json_t *merged_region_of(struct cm_json *json, const struct cm_merged_counters *merged,
				const struct cm_counter_names *names,
				const struct cm_counter_column *column)
{
	const struct cm_profile_counters *counters = column->counters;
	json_t *object = json_object();

	cm_json_set(json, object, "tag", cm_json_text(counters->tag));
	cm_json_set(json, object, "group_id", json_integer(counters->group_id));
	cm_json_set(json, object, "group_name", cm_json_text(counters->group_name));
	cm_json_set(json, object, "source", cm_json_text(counters->source));
	cm_json_set(json, object, "n_ranks",
		    cm_json_unsigned(merged->n_ranks[counters - merged->counters]));
	cm_json_set(json, object, "event_labels",
		    cm_json_texts(json, cm_counter_labels(names, column->layout, CM_COUNTER_EVENT),
				  counters->n_events));
	cm_json_set(json, object, "metric_names",
		    cm_json_texts(json, counters->metric_names, counters->n_metrics));
	set_values(json, object, counters);
	return object;
}

void cm_inspect_json_merged(struct cm_json *json, const struct cm_inspection *inspection)
{
	const struct cm_merged_counters *merged = &inspection->merged;
	const struct cm_counter_tables *tables = &inspection->sections[0].counters;
	const struct cm_counter_table *table = tables->tables;
	json_t *object;
	bool is_first = true;
	size_t i;

	if (inspection->n_sections < 2)
		return;
	object = json_object();
	cm_json_set(json, object, "n_ranks", cm_json_unsigned(merged->n_ranks_counted));
	cm_json_set(json, object, "cpu_name", cm_json_text(merged->cpu_name));
	fputs(",\n\"likwid\":{", json->out);
	cm_json_dump(json, object, JSON_EMBED);
	fputs(",\"regions\":[", json->out);
	for (; table < tables->tables + tables->n_tables; table++)
		for (i = 0; i < table->n_columns; i++) {
			fputs(is_first ? "\n" : ",\n", json->out);
			is_first = false;
			cm_json_dump(
				json,
				merged_region_of(json, merged, &table->names, &table->columns[i]),
				0);
		}
	fputs("]}", json->out);
}
