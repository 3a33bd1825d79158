/* SPDX-License-Identifier: BSD-3-Clause */
/* Several ranks compared, as text: the table over ranks, its legend, when the ranks ran. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/inspect-report.h"
#include "cli/table.h"

/* Priorities: what stands beside the name when only 80 columns are there. */
static const struct cm_table_column columns[] = {
	{"region", CM_TABLE_LEFT, .min_columns = 20}, {"calls", CM_TABLE_RIGHT, .priority = 1},
	{"mean", CM_TABLE_RIGHT, .priority = 2},      {"min", CM_TABLE_RIGHT, .priority = 7},
	{"max", CM_TABLE_RIGHT, .priority = 3},	      {"slowest", CM_TABLE_RIGHT, .priority = 4},
	{"imbalance", CM_TABLE_RIGHT, .priority = 5}, {"lost", CM_TABLE_RIGHT, .priority = 6},
	{"total", CM_TABLE_RIGHT, .priority = 8},     {"share", CM_TABLE_RIGHT, .priority = 9},
	{"ranks", CM_TABLE_RIGHT, .priority = 10},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define SPREAD_BYTES 160

static const char *format_imbalance(char *buf, double imbalance)
{
	double percent = imbalance * 100;

	if (isnan(imbalance))
		return strcpy(buf, "-");
	snprintf(buf, CM_FORMAT_BYTES, "%.*f%%", percent >= 99.95 ? 0 : 1, percent);
	return buf;
}

static const char *format_rank(char *buf, int64_t rank)
{
	if (rank < 0)
		return strcpy(buf, "-");
	snprintf(buf, CM_FORMAT_BYTES, "%" PRId64, rank);
	return buf;
}

static int append_region(struct cm_table *table, const struct cm_inspect_section *all,
			 const struct cm_inspect_region *region)
{
	const struct cm_inspect_balance *balance = &region->balance;
	char cells[N_COLUMNS][CM_FORMAT_BYTES];
	const char *row[N_COLUMNS] = {
		region->stats.tag,
		cm_format_count(cells[1], region->stats.calls),
		cm_format_ns(cells[2], balance->mean_ns),
		cm_format_ns(cells[3], (double)balance->min_ns),
		cm_format_ns(cells[4], (double)balance->max_ns),
		format_rank(cells[5], balance->slowest),
		format_imbalance(cells[6], balance->imbalance),
		cm_format_ns(cells[7], (double)balance->lost_ns),
		cm_format_ns(cells[8], (double)region->stats.total_ns),
		cm_format_share(cells[9], region->share, all->is_complete),
		cm_format_count(cells[10], region->n_ranks),
	};

	return cm_table_append(table, CM_STYLE_PLAIN, row);
}

static int print_table(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	const struct cm_inspect_section *all = &inspection->sections[0];
	struct cm_table *table;
	size_t i;
	int rc;

	rc = cm_table_new(&table, columns, N_COLUMNS);
	if (rc < 0)
		return rc;
	for (i = 0; rc >= 0 && i < all->n_regions; i++)
		rc = append_region(table, all, inspection->by_balance[i]);
	if (rc >= 0)
		rc = cm_table_print(table, report->out, &report->terminal);
	cm_table_free(table);
	return rc;
}

/* What the numbers are, once under the table. */
static int print_legend(const struct cm_report *report)
{
	const struct cm_inspect_section *all = &report->inspection->sections[0];
	bool has_absent = false;
	size_t i;

	for (i = 0; i < all->n_regions; i++)
		has_absent |= all->regions[i].n_ranks < all->n_ranks;
	return cm_report_say(
		report, CM_STYLE_DIM, 2,
		"mean, min and max of the ranks' total times%s; imbalance: max / mean - 1; lost: "
		"what all wait for the slowest, the sum of max - own%s",
		has_absent ? ", 0 for a rank that did not enter the region" : "",
		report->is_brief ? "; --per-rank shows each rank" : "");
}

/* The ranks' first starts and last ends on the common axis. */
struct ends {
	size_t n;
	int64_t first_ns[2], last_ns[2]; /* the earliest and the latest */
	int64_t first_rank[2], last_rank[2];
};

static void take(int64_t *ns, int64_t *rank, int64_t new_ns, int64_t new_rank, bool is_first)
{
	if (is_first || new_ns < ns[0]) {
		ns[0] = new_ns;
		rank[0] = new_rank;
	}
	if (is_first || new_ns > ns[1]) {
		ns[1] = new_ns;
		rank[1] = new_rank;
	}
}

static void find_ends(const struct cm_inspection *inspection, struct ends *ends)
{
	const struct cm_inspect_section *section = inspection->sections;
	const struct cm_inspect_section *end = section + inspection->n_sections;
	int64_t first_ns, last_ns;

	for (; section < end; section++) {
		const struct cm_inspect_place *place = &section->place;

		if (!cm_axis_find(place, place->first_ns, &first_ns) ||
		    !cm_axis_find(place, place->last_ns, &last_ns))
			continue;
		take(ends->first_ns, ends->first_rank, first_ns, section->rank->rank, !ends->n);
		take(ends->last_ns, ends->last_rank, last_ns, section->rank->rank, !ends->n);
		ends->n++;
	}
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

/* Different host names, "" not counted. */
static int count_nodes(const struct cm_inspection *inspection, size_t *ret_n)
{
	const char **names = calloc(inspection->n_sections, sizeof(*names));
	const struct cm_result_rank *rank;
	size_t i, n = 0, n_nodes = 0;

	if (!names)
		return -ENOMEM;
	for (i = 0; i < inspection->n_sections; i++) {
		rank = inspection->sections[i].rank;
		if (rank && *rank->hostname)
			names[n++] = rank->hostname;
	}
	qsort(names, n, sizeof(*names), compare_texts);
	for (i = 0; i < n; i++)
		n_nodes += !i || strcmp(names[i - 1], names[i]);
	free(names);
	*ret_n = n_nodes;
	return 0;
}

/* "within 4.1 us (rank 3 first, rank 0 last)" */
static void format_spread(char *text, const int64_t *ns, const int64_t *rank)
{
	char number[CM_FORMAT_BYTES], ranks[80] = "";

	if (ns[0] != ns[1])
		snprintf(ranks, sizeof(ranks), " (rank %" PRId64 " first, rank %" PRId64 " last)",
			 rank[0], rank[1]);
	snprintf(text, SPREAD_BYTES, "within %s%s",
		 cm_format_ns(number, (double)ns[1] - (double)ns[0]), ranks);
}

/* When the ranks ran, where at least two can be compared. */
static int print_times(const struct cm_report *report)
{
	char started[SPREAD_BYTES], ended[SPREAD_BYTES], all[CM_FORMAT_BYTES];
	struct ends ends = {0};
	size_t n_nodes;
	int rc = count_nodes(report->inspection, &n_nodes);

	find_ends(report->inspection, &ends);
	if (rc < 0 || ends.n < 2)
		return rc;
	format_spread(started, ends.first_ns, ends.first_rank);
	format_spread(ended, ends.last_ns, ends.last_rank);
	cm_format_ns(all, (double)ends.last_ns[1] - (double)ends.first_ns[0]);
	return cm_report_say(report, CM_STYLE_PLAIN, 2,
			     "started %s, ended %s, %s from the first start to the last end%s",
			     started, ended, all,
			     n_nodes > 1 ? "; as exact as the nodes' clocks agree" : "");
}

static int print_heading(const struct cm_report *report)
{
	const struct cm_inspect_section *all = &report->inspection->sections[0];
	char profiled[CM_FORMAT_BYTES + 16] = "", nodes[40] = "", number[CM_FORMAT_BYTES];
	size_t n_nodes;
	int rc = count_nodes(report->inspection, &n_nodes);

	if (rc < 0)
		return rc;
	if (all->profiled_ns)
		snprintf(profiled, sizeof(profiled), ", profiled %s",
			 cm_format_ns(number, (double)all->profiled_ns));
	if (n_nodes > 1)
		snprintf(nodes, sizeof(nodes), " on %zu nodes", n_nodes);
	return cm_report_say(report, CM_STYLE_BOLD, 2, "over %zu ranks%s: %zu region%s%s",
			     all->n_ranks, nodes, all->n_regions, cm_format_plural(all->n_regions),
			     profiled);
}

int cm_report_ranks(const struct cm_report *report)
{
	const struct cm_inspect_section *all = report->inspection->sections;
	int rc;

	if (report->inspection->n_sections < 2)
		return 0;
	fputc('\n', report->out);
	rc = print_heading(report);
	if (rc >= 0 && all->n_regions) {
		fputc('\n', report->out);
		rc = print_table(report);
		if (rc >= 0)
			rc = print_legend(report);
	}
	if (rc >= 0)
		rc = print_times(report);
	if (rc >= 0 && report->is_brief)
		rc = cm_report_ranks_notes(report);
	if (rc >= 0 && !report->by_thread) /* hardware threads are shown by rank */
		rc = cm_report_counters(report, all);
	if (rc >= 0 && report->is_brief)
		rc = cm_report_ranks_counter_notes(report);
	return rc;
}
