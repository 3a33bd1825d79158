/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inspection as text for people. Everything from the file is escaped; no line is wider than the
 * terminal.
 *
 *	cm_report_header(&report);       what was profiled
 *	cm_report_ranks(&report);        several ranks compared
 *	cm_report_section(&report, section);     for each
 *	cm_report_legend(&report);       what the marks in the tables mean, if there are any
 *
 * Errors: -ENOMEM. Write errors are left to the stream (ferror).
 */
#ifndef CALLMARK_CLI_INSPECT_REPORT_H
#define CALLMARK_CLI_INSPECT_REPORT_H

#include <stdio.h>

#include "cli/inspect-model.h"
#include "cli/terminal.h"

struct cm_report {
	FILE *out;
	struct cm_terminal terminal;
	const char *path;
	const struct cm_inspection *inspection;
	bool by_thread;	  /* counters of each hardware thread */
	bool has_min_max; /* counters: their extremes over hardware threads, too */
	bool is_brief;	  /* of several ranks, sections are not shown */
};

int cm_report_header(const struct cm_report *report);

/* The table over ranks, its notes and counters; only where there are several. */
int cm_report_ranks(const struct cm_report *report);

/* What is abnormal on some of the ranks or never called on any: lines that name the ranks. */
int cm_report_ranks_notes(const struct cm_report *report);
/* The same about the counters over ranks. */
int cm_report_ranks_counter_notes(const struct cm_report *report);

int cm_report_section(const struct cm_report *report, const struct cm_inspect_section *section);

int cm_report_legend(const struct cm_report *report);

/* What is abnormal, left out or never called: the lines under a section's table. */
int cm_report_notes(const struct cm_report *report, const struct cm_inspect_section *section);

/* The tables of hardware counters, one an event group, each after an empty line. */
int cm_report_counters(const struct cm_report *report, const struct cm_inspect_section *section);
/* Which counters did not come from LIKWID's own read-back. */
int cm_report_counter_sources(const struct cm_report *report,
			      const struct cm_inspect_section *section);
/* How many calls have no counters, and why. */
int cm_report_skips(const struct cm_report *report, const struct cm_profile_skip *skips,
		    size_t n_skips);
/* All of it, of one rank. */
int cm_report_counter_notes(const struct cm_report *report,
			    const struct cm_inspect_section *section);

/* Which calls of the section's regions are abnormal or have no record. */
int cm_report_flags(const struct cm_report *report, const struct cm_inspect_section *section);

/* One paragraph, wrapped; further lines are indented by `hanging`. */
int cm_report_say(const struct cm_report *report, enum cm_style style, size_t hanging,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
