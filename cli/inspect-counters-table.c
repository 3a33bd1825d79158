/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of hardware counters: regions (or their hardware threads) as columns, counters as rows. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/inspect-report.h"
#include "cli/table.h"
#include "cli/text.h"

#define ALL_THREADS SIZE_MAX
/* So many columns are laid out at a time: tables of thousands stay fast. */
#define N_AT_ONCE 48
#define MIN_KEY_COLUMNS 32
#define MIN_TITLE_COLUMNS 14

/* What one column of text shows. */
struct slot {
	const struct cm_counter_column *column;
	size_t thread; /* index into cpus, or ALL_THREADS */
};

/* Up to N_AT_ONCE columns of a table. */
struct view {
	const struct cm_report *report;
	const struct cm_counter_names *names;
	struct cm_table *table;
	struct slot slots[N_AT_ONCE];
	size_t n_slots;
	bool is_over_ranks;
};

enum form {
	FORM_EVENT,
	FORM_METRIC,
};

/* One row: a function of the slot, its value NULL where the region has no such counter. */
struct line {
	const char *title;
	enum cm_counter_over over;
	enum form form;
	const double *values[N_AT_ONCE]; /* by slot, then by hardware thread */
};

static double value_of(const struct slot *slot, const double *values, enum cm_counter_over over)
{
	if (slot->thread != ALL_THREADS)
		return values[slot->thread];
	return cm_counters_over(slot->column->counters, values, over);
}

static int append(struct view *view, const char *title, const char *const *cells, bool is_dim)
{
	const char *row[N_AT_ONCE + 1] = {title};
	size_t i;

	for (i = 0; cells && i < view->n_slots; i++)
		row[i + 1] = cells[i];
	return cm_table_append(view->table, is_dim ? CM_STYLE_DIM : CM_STYLE_PLAIN, row);
}

static int append_values(struct view *view, const struct line *line, const char *title,
			 enum cm_counter_over over, bool is_dim)
{
	char text[N_AT_ONCE][CM_FORMAT_BYTES];
	const char *cells[N_AT_ONCE];
	double value;
	size_t i;

	for (i = 0; i < view->n_slots; i++) {
		cells[i] = "-";
		if (!line->values[i])
			continue;
		value = value_of(&view->slots[i], line->values[i], over);
		cells[i] = line->form == FORM_EVENT ? cm_format_event(text[i], value)
						    : cm_format_metric(text[i], value);
	}
	return append(view, title, cells, is_dim);
}

static int append_line(struct view *view, const struct line *line)
{
	int rc = append_values(view, line, line->title, line->over, false);

	if (rc < 0 ||
	    !(view->report->has_min_max || (view->is_over_ranks && line->over == CM_OVER_MEAN)))
		return rc;
	rc = append_values(view, line, "  min", CM_OVER_MIN, true);
	return rc < 0 ? rc : append_values(view, line, "  max", CM_OVER_MAX, true);
}

static int append_threads(struct view *view)
{
	char text[N_AT_ONCE][CM_FORMAT_BYTES];
	const char *cells[N_AT_ONCE];
	const struct slot *slot;
	size_t i;

	for (i = 0; i < view->n_slots; i++) {
		slot = &view->slots[i];
		snprintf(text[i], sizeof(text[i]), "%" PRId64,
			 slot->column->counters->cpus[slot->thread]);
		cells[i] = text[i];
	}
	return append(view, "hardware thread", cells, false);
}

/* Call counts are integers: as doubles they would not all be exact. */
static int append_counts(struct view *view)
{
	char text[3][N_AT_ONCE][CM_FORMAT_BYTES];
	const char *cells[3][N_AT_ONCE];
	const struct cm_profile_counters *counters;
	size_t i, k;
	int rc;

	for (i = 0; i < view->n_slots; i++) {
		struct cm_counter_counts counts;

		counters = view->slots[i].column->counters;
		cm_counters_counts(counters, &counts);
		if (view->slots[i].thread != ALL_THREADS)
			counts.sum = counters->call_counts[view->slots[i].thread];
		for (k = 0; k < 3; k++) {
			snprintf(text[k][i], CM_FORMAT_BYTES, "%" PRId64,
				 !k	  ? counts.sum
				 : k == 1 ? counts.min
					  : counts.max);
			cells[k][i] = text[k][i];
		}
	}
	rc = append(view, "call count", cells[0], false);
	if (rc < 0 || !view->report->has_min_max)
		return rc;
	rc = append(view, "  min", cells[1], true);
	return rc < 0 ? rc : append(view, "  max", cells[2], true);
}

static int append_head(struct view *view)
{
	struct line runtime = {"runtime [s]", CM_OVER_MAX, FORM_METRIC, {0}};
	size_t i;
	int rc = 0;

	if (view->report->by_thread)
		rc = append_threads(view);
	if (rc >= 0)
		rc = append_counts(view);
	for (i = 0; i < view->n_slots; i++)
		runtime.values[i] = view->slots[i].column->counters->times;
	return rc < 0 ? rc : append_line(view, &runtime);
}

static int append_kind(struct view *view, enum cm_counter_kind kind)
{
	struct line line = {
		.over = kind == CM_COUNTER_EVENT ? CM_OVER_SUM : CM_OVER_MEAN,
		.form = kind == CM_COUNTER_EVENT ? FORM_EVENT : FORM_METRIC,
	};
	const struct cm_counter_column *column;
	size_t place, i;
	int rc;

	if (!view->names->n[kind])
		return 0;
	rc = cm_table_append_rule(view->table);
	if (rc >= 0)
		rc = append(view, kind == CM_COUNTER_EVENT ? "Events" : "Metrics", NULL, false);
	for (place = 0; rc >= 0 && place < view->names->n[kind]; place++) {
		line.title = view->names->names[kind][place];
		for (i = 0; i < view->n_slots; i++) {
			column = view->slots[i].column;
			line.values[i] = cm_counter_values(view->names, column->layout,
							   column->counters, kind, place);
		}
		rc = append_line(view, &line);
	}
	return rc;
}

static int fill(struct view *view)
{
	int rc = cm_table_append_rule(view->table);

	if (rc >= 0)
		rc = append_head(view);
	if (rc >= 0)
		rc = append_kind(view, CM_COUNTER_EVENT);
	if (rc >= 0)
		rc = append_kind(view, CM_COUNTER_METRIC);
	return rc < 0 ? rc : cm_table_append_rule(view->table);
}

/* The slots so far, and none afterwards. */
static int print_view(struct view *view)
{
	struct cm_table_column columns[N_AT_ONCE + 1] = {
		{"counter", CM_TABLE_LEFT, .min_columns = MIN_KEY_COLUMNS},
	};
	char *titles[N_AT_ONCE] = {NULL};
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < view->n_slots; i++) {
		rc = cm_text_escape(view->slots[i].column->counters->tag, &titles[i]);
		columns[i + 1] = (struct cm_table_column){titles[i], CM_TABLE_RIGHT,
							  .min_title = MIN_TITLE_COLUMNS};
	}
	if (rc >= 0)
		rc = cm_table_new(&view->table, columns, view->n_slots + 1);
	if (rc >= 0)
		rc = fill(view);
	if (rc >= 0)
		rc = cm_table_print(view->table, view->report->out, &view->report->terminal);
	cm_table_free(view->table);
	view->table = NULL;
	for (i = 0; i < view->n_slots; i++)
		free(titles[i]);
	view->n_slots = 0;
	return rc;
}

static int put_slot(struct view *view, const struct cm_counter_column *column, size_t thread)
{
	int rc = 0;

	if (view->n_slots == N_AT_ONCE) {
		rc = print_view(view);
		fputc('\n', view->report->out);
	}
	view->slots[view->n_slots++] = (struct slot){column, thread};
	return rc;
}

static int print_columns(struct view *view, const struct cm_counter_table *table)
{
	size_t i, k;
	int rc = 0;

	for (i = 0; rc >= 0 && i < table->n_columns; i++) {
		if (!view->report->by_thread) {
			rc = put_slot(view, &table->columns[i], ALL_THREADS);
			continue;
		}
		for (k = 0; rc >= 0 && k < table->columns[i].counters->n_cpus; k++)
			rc = put_slot(view, &table->columns[i], k);
	}
	return rc < 0 ? rc : print_view(view);
}

static int print_title(const struct cm_report *report, const struct cm_inspect_section *section,
		       const struct cm_profile_counters *counters)
{
	const struct cm_merged_counters *merged = &report->inspection->merged;
	const char *cpu = section->rank ? section->rank->likwid_cpu_name : merged->cpu_name;
	char number[32], whose[48];

	snprintf(number, sizeof(number), "%" PRId64, counters->group_id);
	if (section->rank)
		snprintf(whose, sizeof(whose), "rank %" PRId64, section->rank->rank);
	else
		snprintf(whose, sizeof(whose), "over %zu rank%s", merged->n_ranks_counted,
			 cm_format_plural(merged->n_ranks_counted));
	return cm_report_say(report, CM_STYLE_BOLD, 2, "LIKWID counters (%s, group %s%s%s)", whose,
			     *counters->group_name ? counters->group_name : number,
			     *cpu ? ", " : "", cpu);
}

static int print_legend(const struct cm_report *report, const struct cm_counter_table *table)
{
	size_t i;

	for (i = 0; i < table->n_columns; i++)
		if (cm_counters_n_entered(table->columns[i].counters) > 1)
			break;
	if (report->by_thread || i == table->n_columns)
		return 0;
	return cm_report_say(
		report, CM_STYLE_DIM, 2,
		"over the hardware threads that entered the region: call count and "
		"events are sums, runtime is the maximum, metrics are means; --threads "
		"shows each thread");
}

static int print_ranks_legend(const struct cm_report *report)
{
	return cm_report_say(
		report, CM_STYLE_DIM, 2,
		"over the hardware threads of all ranks that entered the region: call count and "
		"events are sums, runtime is the maximum, metrics are means; an event that ranks "
		"share (memory, energy) is in the sum as often as they counted it; --per-rank "
		"shows each rank");
}

int cm_report_counters(const struct cm_report *report, const struct cm_inspect_section *section)
{
	const struct cm_counter_table *table = section->counters.tables;
	struct view *view;
	int rc = 0;

	view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->report = report;
	view->is_over_ranks = !section->rank;
	for (; rc >= 0 && table < section->counters.tables + section->counters.n_tables; table++) {
		view->names = &table->names;
		fputc('\n', report->out);
		rc = print_title(report, section, table->columns[0].counters);
		if (rc >= 0)
			rc = print_columns(view, table);
		if (rc >= 0 && section->rank)
			rc = print_legend(report, table);
	}
	if (rc >= 0 && !section->rank && section->counters.n_tables)
		rc = print_ranks_legend(report);
	free(view);
	return rc;
}
