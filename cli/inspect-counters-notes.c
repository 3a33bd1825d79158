/* SPDX-License-Identifier: BSD-3-Clause */
/* How hardware counters were had and which calls have none, in words. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/inspect-format.h"
#include "cli/inspect-report.h"
#include "preload/spool.h"

#define MAX_NAMES 10

/* What a source other than full_api means for the reader of the table. */
static const struct source {
	const char *name;
	const char *meaning;
} sources[] = {
	{"marker_file", "read from LIKWID's marker file (marker_file): the values are real, events "
			"have no names, there are no metrics"},
	{"marker_api", "read before the markers were closed (marker_api): of the last thread's "
		       "CPU only, events have no names, there are no metrics"},
};
#define N_SOURCES (sizeof(sources) / sizeof(sources[0]))

static const char *meaning_of(const char *source)
{
	size_t i;

	for (i = 0; i < N_SOURCES; i++)
		if (!strcmp(sources[i].name, source))
			return sources[i].meaning;
	return NULL;
}

/* "of 3 regions" or their names, where not all have this source. */
static int say_source(const struct cm_report *report, const struct cm_counter_tables *tables,
		      const char *source)
{
	const char *meaning = meaning_of(source);
	char *text = NULL;
	size_t n_bytes, i, n = 0;
	FILE *out = open_memstream(&text, &n_bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	for (i = 0; i < tables->n_columns; i++) {
		if (strcmp(tables->columns[i].counters->source, source))
			continue;
		if (n++ < MAX_NAMES)
			fprintf(out, "%s%s", n > 1 ? ", " : "", tables->columns[i].counters->tag);
	}
	if (n > MAX_NAMES)
		fprintf(out, " and %zu more", n - MAX_NAMES);
	if (fclose(out))
		rc = -ENOMEM;
	else if (meaning)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4, "  ! counters of %s: %s",
				   n == tables->n_columns ? "all regions" : text, meaning);
	else
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! counters of %s: from the source '%s', which this version "
				   "does not know",
				   n == tables->n_columns ? "all regions" : text, source);
	free(text);
	return rc;
}

/* Each source that is not full_api once. */
int cm_report_counter_sources(const struct cm_report *report,
			      const struct cm_inspect_section *section)
{
	const struct cm_counter_tables *tables = &section->counters;
	const char *source;
	size_t i, k;
	int rc = 0;

	for (i = 0; rc >= 0 && i < tables->n_columns; i++) {
		source = tables->columns[i].counters->source;
		if (!*source || !strcmp(source, "full_api"))
			continue;
		for (k = 0; strcmp(tables->columns[k].counters->source, source); k++)
			;
		if (k == i)
			rc = say_source(report, tables, source);
	}
	return rc;
}

/* As preload/spool.h puts it; NULL for a reason of another version. */
static const char *reason_of(const char *name)
{
	static const char *const reasons[][2] = {
#define CM_MARKER_SKIP(enumerator, text, meaning) {text, meaning},
		CM_MARKER_SKIPS(CM_MARKER_SKIP)
#undef CM_MARKER_SKIP
	};
	size_t i;

	for (i = 0; i < CM_N_MARKER_SKIPS; i++)
		if (!strcmp(reasons[i][0], name))
			return reasons[i][1];
	return NULL;
}

int cm_report_skips(const struct cm_report *report, const struct cm_profile_skip *skips,
		    size_t n_skips)
{
	const struct cm_profile_skip *skip = skips;
	char number[CM_FORMAT_BYTES];
	const char *reason;
	uint64_t n;
	int rc = 0;

	for (; rc >= 0 && skip < skips + n_skips; skip++) {
		if (skip->n <= 0)
			continue;
		n = (uint64_t)skip->n;
		reason = reason_of(skip->reason);
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! %s call%s without counters: %s", cm_format_count(number, n),
				   cm_format_plural(n), reason ? reason : skip->reason);
	}
	return rc;
}

int cm_report_counter_notes(const struct cm_report *report,
			    const struct cm_inspect_section *section)
{
	const struct cm_result_rank *rank = section->rank;
	int rc = 0;

	if (rank->has_likwid && !rank->n_counters)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! LIKWID was counting, but no region has counters");
	if (rc >= 0 && *rank->likwid_fallback)
		rc = cm_report_say(report, CM_STYLE_WARNING, 4,
				   "  ! LIKWID could not read its counters back: %s",
				   rank->likwid_fallback);
	if (rc >= 0)
		rc = cm_report_counter_sources(report, section);
	return rc < 0 ? rc : cm_report_skips(report, rank->skips, rank->n_skips);
}
