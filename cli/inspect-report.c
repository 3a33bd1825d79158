/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of an inspection as text: a heading, the table of regions, the notes. */
#include "cli/inspect-report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/table.h"

/* Priorities: what stands beside the name when only 80 columns are there. */
static const struct cm_table_column columns[] = {
	{"region", CM_TABLE_LEFT, .min_columns = 26},
	{"calls", CM_TABLE_RIGHT, .priority = 1},
	{"total", CM_TABLE_RIGHT, .priority = 2},
	{"share", CM_TABLE_RIGHT, .priority = 3},
	{"avg", CM_TABLE_RIGHT, .priority = 4},
	{"min", CM_TABLE_RIGHT, .priority = 8},
	{"max", CM_TABLE_RIGHT, .priority = 9},
	{"p50", CM_TABLE_RIGHT, .priority = 5},
	{"p95", CM_TABLE_RIGHT, .priority = 7},
	{"p99", CM_TABLE_RIGHT, .priority = 6},
	{"std", CM_TABLE_RIGHT, .priority = 10},
	{"ranks", CM_TABLE_RIGHT, .priority = 11}, /* over ranks only */
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define TIMES_BYTES (2 * CM_FORMAT_BYTES + 16)

static int append_region(struct cm_table *table, const struct cm_inspect_section *section,
			 const struct cm_inspect_region *region)
{
	const struct cm_profile_region *stats = &region->stats;
	const struct cm_inspect_percentile *percentile = region->percentiles;
	double min = region->n_completed ? (double)stats->min_ns : NAN;
	double max = region->n_completed ? (double)stats->max_ns : NAN;
	char cells[N_COLUMNS][CM_FORMAT_BYTES];
	const char *row[N_COLUMNS] = {
		stats->tag,
		cm_format_count(cells[1], stats->calls),
		cm_format_ns(cells[2], (double)stats->total_ns),
		cm_format_share(cells[3], region->share, section->is_complete),
		cm_format_ns(cells[4], region->avg_ns),
		cm_format_ns(cells[5], min),
		cm_format_ns(cells[6], max),
		cm_format_estimate(cells[7], percentile[0].ns, percentile[0].is_exact),
		cm_format_estimate(cells[8], percentile[1].ns, percentile[1].is_exact),
		cm_format_estimate(cells[9], percentile[2].ns, percentile[2].is_exact),
		cm_format_ns(cells[10], region->std_ns),
		cm_format_count(cells[11], region->n_ranks),
	};

	return cm_table_append(table, CM_STYLE_PLAIN, row);
}

static int print_table(const struct cm_report *report, const struct cm_inspect_section *section)
{
	struct cm_table *table;
	size_t i;
	int rc;

	rc = cm_table_new(&table, columns, section->rank ? N_COLUMNS - 1 : N_COLUMNS);
	if (rc < 0)
		return rc;
	for (i = 0; rc >= 0 && i < section->n_regions; i++)
		rc = append_region(table, section, &section->regions[i]);
	if (rc >= 0)
		rc = cm_table_print(table, report->out, &report->terminal);
	cm_table_free(table);
	return rc;
}

/* "; node7, pid 4242, exit status 0": where a file of several ranks says it, else "". */
static int find_place(const struct cm_report *report, const struct cm_result_rank *rank,
		      char **ret_place)
{
	char status[48] = "", *place;

	if (rank->has_exit_status)
		snprintf(status, sizeof(status), ", exit status %ld", (long)rank->exit_status);
	if (cm_results_n_ranks(report->inspection->results) < 2 || !rank->pid)
		place = strdup("");
	else if (asprintf(&place, "; %s%spid %ld%s", rank->hostname, *rank->hostname ? ", " : "",
			  (long)rank->pid, status) < 0)
		place = NULL;
	if (!place)
		return -ENOMEM;
	*ret_place = place;
	return 0;
}

/* ", from 12 us to 1.23 s": on the axis of all ranks, where there are several. */
static void find_times(const struct cm_report *report, const struct cm_inspect_section *section,
		       char *times)
{
	const struct cm_inspect_place *place = &section->place;
	char from[CM_FORMAT_BYTES], to[CM_FORMAT_BYTES];
	int64_t first_ns, last_ns;

	*times = '\0';
	if (report->inspection->n_sections < 2 ||
	    !cm_axis_find(place, place->first_ns, &first_ns) ||
	    !cm_axis_find(place, place->last_ns, &last_ns))
		return;
	snprintf(times, TIMES_BYTES, ", from %s to %s", cm_format_ns(from, (double)first_ns),
		 cm_format_ns(to, (double)last_ns));
}

/* "rank 3: 12 regions, 2 threads, profiled 1.23 s; node7, pid 4242, exit status 0" */
static int print_heading(const struct cm_report *report, const struct cm_inspect_section *section)
{
	char profiled[CM_FORMAT_BYTES + 16] = "", number[CM_FORMAT_BYTES], threads[40] = "";
	const struct cm_result_rank *rank = section->rank;
	char times[TIMES_BYTES], *place;
	int rc;

	if (section->profiled_ns)
		snprintf(profiled, sizeof(profiled), ", profiled %s",
			 cm_format_ns(number, (double)section->profiled_ns));
	if (!rank)
		return cm_report_say(report, CM_STYLE_BOLD, 2,
				     "calls of all %zu ranks: %zu region%s%s", section->n_ranks,
				     section->n_regions, cm_format_plural(section->n_regions),
				     profiled);
	if (rank->n_threads)
		snprintf(threads, sizeof(threads), ", %zu thread%s", rank->n_threads,
			 cm_format_plural(rank->n_threads));
	rc = find_place(report, rank, &place);
	if (rc < 0)
		return rc;
	find_times(report, section, times);
	rc = cm_report_say(report, CM_STYLE_BOLD, 2, "rank %ld: %zu region%s%s%s%s%s",
			   (long)rank->rank, section->n_regions,
			   cm_format_plural(section->n_regions), threads, profiled, times, place);
	free(place);
	return rc;
}

int cm_report_section(const struct cm_report *report, const struct cm_inspect_section *section)
{
	int rc;

	fputc('\n', report->out);
	rc = print_heading(report, section);
	if (rc >= 0 && section->n_regions) {
		fputc('\n', report->out);
		rc = print_table(report, section);
	}
	if (rc >= 0)
		rc = cm_report_notes(report, section);
	if (rc >= 0 && section->rank)
		rc = cm_report_counters(report, section);
	if (rc >= 0 && section->rank)
		rc = cm_report_counter_notes(report, section);
	return rc;
}
