/* SPDX-License-Identifier: BSD-3-Clause */
/* What is abnormal, left out or never called, in words: the lines under a section's table. */
#include "cli/inspect-report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"

#define MAX_NAMES 10

/* Calls without a record: why, as far as the file tells. */
static void say_missing(FILE *out, const struct cm_inspect_region *region)
{
	uint64_t missing, lost = region->stats.dropped_events;
	char held[CM_FORMAT_BYTES], of[CM_FORMAT_BYTES];

	cm_format_count(held, region->n_traced);
	cm_format_count(of, region->n_completed);
	if (region->n_traced > region->n_completed)
		fprintf(out, "; damaged: the trace holds %s records of %s calls", held, of);
	if (region->n_traced >= region->n_completed)
		return;
	missing = region->n_completed - region->n_traced;
	if (lost > missing)
		lost = missing;
	if (!region->n_traced && !lost)
		fprintf(out, "; totals only, no trace of %s call%s%s", of,
			cm_format_plural(region->n_completed),
			region->stats.max_events ? "" : " (trace=off)");
	else if (missing > lost)
		fprintf(out, "; trace holds %s of %s calls (max-events)", held, of);
	if (lost)
		fprintf(out, "; %s record%s lost, the calls are counted",
			cm_format_count(held, lost), cm_format_plural(lost));
}

static void say_one(FILE *out, uint64_t n, const char *text)
{
	char number[CM_FORMAT_BYTES];

	if (n)
		fprintf(out, "; %s call%s %s", cm_format_count(number, n), cm_format_plural(n),
			text);
}

/* "; a; b" of one region, "" when there is nothing to say. The caller frees. */
static int find_flags(const struct cm_inspect_region *region, char **ret_text)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	if (!out)
		return -ENOMEM;
	say_missing(out, region);
	say_one(out, region->stats.open, "still open at the end, not in the times");
	say_one(out, region->stats.unwound, "left by an exception or a thread's end");
	say_one(out, region->stats.skipped, "left by longjmp");
	say_one(out, region->n_backwards, "with an end before the start, taken as 0 ns");
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}

int cm_report_flags(const struct cm_report *report, const struct cm_inspect_section *section)
{
	const struct cm_inspect_region *region = section->regions;
	char *text;
	int rc = 0;

	for (; rc >= 0 && region < section->regions + section->n_regions; region++) {
		rc = find_flags(region, &text);
		if (rc < 0)
			return rc;
		if (*text)
			rc = cm_report_say(report, CM_STYLE_WARNING, 4, "  ! %s: %s",
					   region->stats.tag, text + 2);
		free(text);
	}
	return rc;
}

int cm_report_legend(const struct cm_report *report)
{
	const struct cm_inspect_section *section = report->inspection->sections;
	const struct cm_inspect_section *end = section + report->inspection->n_sections;
	bool is_over_ranks = report->is_brief && section != end && !section->rank;
	bool has_estimate = false, has_excess = false;
	size_t i;
	int rc = 0;

	if (is_over_ranks)
		end = section + 1;
	for (; section < end; section++) {
		has_estimate |= section->n_regions && !section->is_complete;
		for (i = 0; i < section->n_regions; i++)
			has_excess |= section->regions[i].share > 1.0005;
	}
	if (has_estimate || has_excess)
		fputc('\n', report->out);
	if (has_estimate)
		rc = cm_report_say(
			report, CM_STYLE_DIM, 2,
			"~ estimated, the trace does not hold all calls: %sshare of the time that "
			"was traced",
			is_over_ranks ? "" : "percentiles from the histogram of all calls, ");
	if (rc >= 0 && has_excess)
		rc = cm_report_say(
			report, CM_STYLE_DIM, 2,
			"share >100%%: calls inside one another (recursion) or, in a file "
			"without thread times, on several threads at once");
	return rc;
}

/* The rank whose section comes first, if it left the same regions out. */
static const struct cm_result_rank *same_never_called(const struct cm_report *report,
						      const struct cm_result_rank *rank)
{
	const struct cm_inspect_section *first = report->inspection->sections;
	size_t i;

	first += !first->rank;
	if (first->rank == rank || first->rank->n_never_called != rank->n_never_called)
		return NULL;
	for (i = 0; i < rank->n_never_called; i++)
		if (strcmp(first->rank->never_called[i], rank->never_called[i]))
			return NULL;
	return first->rank;
}

static int print_never_called(const struct cm_report *report, const struct cm_result_rank *rank)
{
	const struct cm_result_rank *same;
	char *text = NULL;
	size_t n_bytes, i;
	FILE *out;
	int rc;

	if (!rank->n_never_called)
		return 0;
	same = same_never_called(report, rank);
	if (same)
		return cm_report_say(report, CM_STYLE_DIM, 4,
				     "  never called (%zu): as on rank %ld", rank->n_never_called,
				     (long)same->rank);
	out = open_memstream(&text, &n_bytes);
	if (!out)
		return -ENOMEM;
	for (i = 0; i < rank->n_never_called && i < MAX_NAMES; i++)
		fprintf(out, "%s%s", i ? ", " : "", rank->never_called[i]);
	if (rank->n_never_called > MAX_NAMES)
		fprintf(out, " and %zu more", rank->n_never_called - MAX_NAMES);
	rc = fclose(out) ? -ENOMEM
			 : cm_report_say(report, CM_STYLE_DIM, 4, "  never called (%zu): %s",
					 rank->n_never_called, text);
	free(text);
	return rc;
}

static int print_rank_notes(const struct cm_report *report, const struct cm_result_rank *rank)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc >= 0 && i < rank->n_notes; i++)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4, "  ! %s", rank->notes[i]);
	return rc < 0 ? rc : print_never_called(report, rank);
}

int cm_report_notes(const struct cm_report *report, const struct cm_inspect_section *section)
{
	char number[CM_FORMAT_BYTES];
	int rc;

	rc = cm_report_flags(report, section);
	if (rc >= 0 && section->n_untimed)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! %s call%s not timed; of which regions is not known",
				   cm_format_count(number, section->n_untimed),
				   cm_format_plural(section->n_untimed));
	if (rc >= 0 && section->n_hidden && !section->n_regions)
		rc = cm_report_say(report, CM_STYLE_PLAIN, 4,
				   "  no region matches: the filter left out all %zu",
				   section->n_hidden);
	if (rc >= 0 && section->rank)
		rc = print_rank_notes(report, section->rank);
	return rc;
}
