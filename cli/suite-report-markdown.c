/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a suite as Markdown: a table of the rows, then what was counted. */
#include <stdlib.h>
#include <string.h>

#include "cli/suite.h"
#include "cli/text.h"

/* Text from files in a cell: nothing in it is Markdown, HTML or a line's end. */
static void print_text(struct cm_suite_report *report, const char *raw)
{
	char *text;

	if (cm_text_escape(raw, &text) < 0) {
		report->is_failed = true;
		return;
	}
	for (const char *p = text; *p; p++) {
		if (*p == '<')
			fputs("&lt;", report->out);
		else if (*p == '&')
			fputs("&amp;", report->out);
		else if (strchr("\\`*_{}[]|~#!", *p))
			fprintf(report->out, "\\%c", *p);
		else
			fputc(*p, report->out);
	}
	free(text);
}

static void begin(struct cm_suite_report *report)
{
	const struct cm_suite_check *check = report->check;
	FILE *out = report->out;

	fputs("# Suite ", out);
	print_text(report, report->suite->name);
	fprintf(out, "\n\nVerdict: **%s**\n\nRun %s, %zu rows:", report->verdict, check->run_id,
		check->n_rows);
	for (int i = 0; i < CM_N_ROW_VERDICTS; i++)
		if (check->tally.n[i])
			fprintf(out, " %zu %s", check->tally.n[i],
				cm_row_verdict_name((enum cm_row_verdict)i));
	if (!check->is_complete)
		fprintf(out, ". **The run did not come to its end: %zu rows are absent.**",
			check->n_rows - check->n_found);
	fputs("\n\n| Row | Case | Target | Verdict | Oracle | Warnings | Seconds | Reason |\n"
	      "| ---: | --- | --- | --- | --- | ---: | ---: | --- |\n",
	      out);
}

static void show_row(struct cm_suite_report *report, size_t row_idx, const struct cm_bundle *bundle)
{
	const struct cm_suite_row *row = &report->suite->rows[row_idx];
	FILE *out = report->out;

	fprintf(out, "| %zu | ", row_idx + 1);
	print_text(report, row->case_id);
	fputs(" | ", out);
	print_text(report, row->target_id);
	if (!bundle) {
		fputs(" | absent | | | | the run ended before it |\n", out);
		return;
	}
	fprintf(out, " | %s | ", bundle->verdict);
	print_text(report, bundle->oracle);
	fprintf(out, " | %ld | %.3f | ", (long)bundle->n_warnings, bundle->elapsed_seconds);
	print_text(report, bundle->reason);
	if (*bundle->planned)
		fputs(" (planned)", out);
	if (*bundle->detail) {
		fputs(": ", out);
		print_text(report, bundle->detail);
	}
	fputs(" |\n", out);
}

/* "selected-CPU back-end window, DAEMON; group time 0.01 s; AMD ..." */
static void print_window(struct cm_suite_report *report, const struct cm_bundle *bundle)
{
	FILE *out = report->out;

	fprintf(out, "\n\n%s, ", CM_BUNDLE_SCOPE);
	print_text(report, bundle->access_mode);
	if (bundle->has_perf_pid)
		fprintf(out, ", LIKWID\\_PERF\\_PID %ld", (long)bundle->perf_pid);
	if (bundle->has_group_time)
		fprintf(out, "; group time %.9g s", bundle->group_time_seconds);
	fputs("; ", out);
	print_text(report, bundle->cpu_name);
	if (cm_suite_is_simulated(bundle))
		fputs(". **These counters are simulated: they say nothing about performance.**",
		      out);
}

static void show_details(struct cm_suite_report *report, size_t row_idx,
			 const struct cm_bundle *bundle)
{
	FILE *out = report->out;

	if (!bundle || !bundle->n_observations)
		return;
	fprintf(out, "\n## Row %zu: ", row_idx + 1);
	print_text(report, bundle->case_id);
	fputs(" / ", out);
	print_text(report, bundle->target_id);
	print_window(report, bundle);
	fputs("\n\n| Event | Counter | CPU | Value | Unit |\n| --- | --- | ---: | ---: | --- |\n",
	      out);
	for (size_t i = 0; i < bundle->n_observations; i++) {
		const struct cm_bundle_observation *observation = &bundle->observations[i];

		fputs("| ", out);
		print_text(report, observation->event);
		fputs(" | ", out);
		print_text(report, observation->counter);
		fprintf(out, " | %ld | ", (long)observation->cpu_id);
		print_text(report, observation->raw_value);
		fputs(" | ", out);
		print_text(report, observation->unit);
		fputs(" |\n", out);
	}
}

static void end(struct cm_suite_report *report)
{
	(void)report; /* there is nothing behind the last row */
}

const struct cm_suite_reporter cm_suite_markdown_reporter = {begin, show_row, show_details, end};
