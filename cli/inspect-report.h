/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inspection as text for people. Everything from the file is escaped; no line is wider than the
 * terminal.
 *
 *	cm_report_header(&report);       what was profiled
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
};

int cm_report_header(const struct cm_report *report);
int cm_report_section(const struct cm_report *report, const struct cm_inspect_section *section);

int cm_report_legend(const struct cm_report *report);

/* What is abnormal, left out or never called: the lines under a section's table. */
int cm_report_notes(const struct cm_report *report, const struct cm_inspect_section *section);

/* One paragraph, wrapped; further lines are indented by `hanging`. */
int cm_report_say(const struct cm_report *report, enum cm_style style, size_t hanging,
		  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
