/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a suite as JUnit XML: error, blocked, invalid are failures, unavailable skipped. */
#include <stdlib.h>

#include "cli/suite.h"
#include "cli/text.h"

/* Text from files: XML has no room for most control characters, not even escaped. */
static void print_text(struct cm_suite_report *report, const char *raw)
{
	char *escaped;

	if (cm_text_escape(raw, &escaped) < 0) {
		report->is_failed = true;
		return;
	}
	for (const char *p = escaped; *p; p++) {
		const char *entity = *p == '<'	  ? "&lt;"
				     : *p == '>'  ? "&gt;"
				     : *p == '&'  ? "&amp;"
				     : *p == '"'  ? "&quot;"
				     : *p == '\'' ? "&apos;"
						  : NULL;

		if (entity)
			fputs(entity, report->out);
		else
			fputc(*p, report->out);
	}
	free(escaped);
}

static void begin(struct cm_suite_report *report)
{
	const struct cm_suite_check *check = report->check;
	size_t n_failures = 0, n_absent = check->n_rows - check->n_found;
	FILE *out = report->out;

	for (int i = 0; i < CM_N_ROW_VERDICTS; i++)
		if (cm_row_verdict_is_failure((enum cm_row_verdict)i))
			n_failures += check->tally.n[i];
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", out);
	print_text(report, report->suite->name);
	fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
		check->n_rows, n_failures, check->tally.n[CM_ROW_UNAVAILABLE] + n_absent);
	fprintf(out,
		"  <properties>\n    <property name=\"verdict\" value=\"%s\"/>\n"
		"    <property name=\"run_id\" value=\"",
		report->verdict);
	print_text(report, check->run_id);
	fputs("\"/>\n  </properties>\n", out);
}

static void print_reason(struct cm_suite_report *report, const struct cm_bundle *bundle)
{
	print_text(report, bundle->reason);
	if (*bundle->detail) {
		fputs(": ", report->out);
		print_text(report, bundle->detail);
	}
}

/* What was counted, a line an observation. */
static void print_observations(struct cm_suite_report *report, const struct cm_bundle *bundle)
{
	FILE *out = report->out;

	if (!bundle->n_observations)
		return;
	fputs("    <system-out>", out);
	if (cm_suite_is_simulated(bundle))
		fputs("simulated counters: they say nothing about performance\n", out);
	for (size_t i = 0; i < bundle->n_observations; i++) {
		const struct cm_bundle_observation *observation = &bundle->observations[i];

		print_text(report, observation->event);
		fputc(':', out);
		print_text(report, observation->counter);
		fprintf(out, " CPU %ld ", (long)observation->cpu_id);
		print_text(report, observation->raw_value);
		fputc(' ', out);
		print_text(report, observation->unit);
		fputc('\n', out);
	}
	fputs("</system-out>\n", out);
}

static void print_outcome(struct cm_suite_report *report, const struct cm_bundle *bundle)
{
	enum cm_row_verdict verdict = cm_row_verdict_find(bundle->verdict);

	if (verdict == CM_ROW_UNAVAILABLE) {
		fputs("    <skipped message=\"", report->out);
		print_reason(report, bundle);
		fputs("\"/>\n", report->out);
	} else if (cm_row_verdict_is_failure(verdict)) {
		fprintf(report->out, "    <failure type=\"%s\" message=\"", bundle->verdict);
		print_reason(report, bundle);
		fputs("\"/>\n", report->out);
	}
	print_observations(report, bundle);
}

static void show_row(struct cm_suite_report *report, size_t row_idx, const struct cm_bundle *bundle)
{
	const struct cm_suite_row *row = &report->suite->rows[row_idx];
	FILE *out = report->out;

	fputs("  <testcase classname=\"", out);
	print_text(report, row->case_id);
	fputs("\" name=\"", out);
	print_text(report, row->target_id);
	fprintf(out, "\" time=\"%.6f\">\n", bundle ? bundle->elapsed_seconds : 0);
	if (bundle)
		print_outcome(report, bundle);
	else
		fputs("    <skipped message=\"absent: the run ended before it\"/>\n", out);
	fputs("  </testcase>\n", out);
}

static void end(struct cm_suite_report *report)
{
	fputs("</testsuite>\n", report->out);
}

const struct cm_suite_reporter cm_suite_junit_reporter = {begin, show_row, NULL, end};
