/* SPDX-License-Identifier: BSD-3-Clause */
/* The first block of `callmark inspect`: what was profiled, where, when and how. */
#include "cli/inspect-report.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

#define LABEL_COLUMNS 11 /* with the indent and a space */
#define MAX_COMMAND_LINES 3
#define MAX_NAMES 10

/* "  label    text", wrapped; nothing for an empty text. */
static int put_field(const struct cm_report *report, const char *label, size_t max_lines,
		     const char *raw)
{
	size_t room = (report->terminal.n_columns - LABEL_COLUMNS) * max_lines;
	char *text = NULL, *cut = NULL;
	int rc;

	if (!*raw)
		return 0;
	rc = cm_text_escape(raw, &text);
	if (rc >= 0)
		rc = cm_text_cut(text, room, &cut);
	if (rc >= 0) {
		fprintf(report->out, "  %s%-*s%s",
			cm_terminal_style(&report->terminal, CM_STYLE_DIM), LABEL_COLUMNS - 2,
			label, cm_terminal_style(&report->terminal, CM_STYLE_PLAIN));
		cm_text_wrap(report->out, cut, LABEL_COLUMNS, LABEL_COLUMNS,
			     report->terminal.n_columns);
	}
	free(text);
	free(cut);
	return rc;
}

static int put_format(const struct cm_report *report, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int put_format(const struct cm_report *report, const char *label, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int rc;

	va_start(args, format);
	rc = vasprintf(&text, format, args);
	va_end(args);
	if (rc < 0)
		return -ENOMEM;
	rc = put_field(report, label, MAX_COMMAND_LINES, text);
	free(text);
	return rc;
}

/* "" where absent or no string. */
static const char *metadata(const struct cm_report *report, const char *name)
{
	const struct cm_meta *meta;
	size_t n, i;

	meta = cm_results_metadata(report->inspection->results, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(meta[i].name, name) && meta[i].kind == CM_META_STRING && meta[i].string)
			return meta[i].string;
	return "";
}

/* The first rank that is shown speaks for all where they agree or cannot all be listed. */
static const struct cm_result_rank *first_rank(const struct cm_report *report)
{
	const struct cm_inspection *inspection = report->inspection;
	size_t i;

	for (i = 0; i < inspection->n_sections; i++)
		if (inspection->sections[i].rank)
			return inspection->sections[i].rank;
	return NULL;
}

/* As one would type it into a shell. */
static void put_quoted(FILE *out, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (*arg && !arg[strspn(arg, plain)]) {
		fputs(arg, out);
		return;
	}
	fputc('\'', out);
	for (; *arg; arg++) {
		if (*arg == '\'')
			fputs("'\\''", out);
		else
			fputc(*arg, out);
	}
	fputc('\'', out);
}

static int put_command(const struct cm_report *report, const struct cm_result_rank *rank)
{
	char *text = NULL;
	size_t n_bytes, i;
	FILE *out = open_memstream(&text, &n_bytes);
	int rc;

	if (!out)
		return -ENOMEM;
	for (i = 0; i < rank->n_command_line; i++) {
		if (i)
			fputc(' ', out);
		put_quoted(out, rank->command_line[i]);
	}
	rc = fclose(out) ? -ENOMEM : put_field(report, "command", MAX_COMMAND_LINES, text);
	free(text);
	return rc;
}

static int put_program(const struct cm_report *report, const struct cm_result_rank *rank)
{
	char overhead[64] = "";
	int rc;

	if (!rank)
		return 0;
	rc = put_field(report, "program", MAX_COMMAND_LINES, rank->executable);
	if (rc >= 0)
		rc = put_command(report, rank);
	if (!isnan(rank->overhead_ns_per_call))
		snprintf(overhead, sizeof(overhead), ", %.3g ns added to a call",
			 rank->overhead_ns_per_call);
	if (rc >= 0 && *rank->clock)
		rc = put_format(report, "clock", "%s%s", rank->clock, overhead);
	return rc;
}

static int put_place(const struct cm_report *report, const struct cm_result_rank *rank)
{
	const char *platform = metadata(report, "platform"), *user = metadata(report, "user");
	const char *when = metadata(report, "timestamp"), *host;
	int rc;

	host = rank && *rank->hostname ? rank->hostname : metadata(report, "hostname");
	rc = put_format(report, "host", "%s%s%s", host, *host && *platform ? ", " : "", platform);
	if (rc >= 0)
		rc = put_field(report, "cpu", 1, metadata(report, "chip_information"));
	if (rc >= 0)
		rc = put_format(report, "when", "%s%s%s", when, *when && *user ? ", by " : "",
				*when ? user : "");
	if (rc >= 0)
		rc = put_field(report, "folder", MAX_COMMAND_LINES,
			       metadata(report, "working_directory"));
	return rc;
}

/* Of a file of one rank; the sections of several carry theirs. */
static int put_exit(const struct cm_report *report, const struct cm_result_rank *rank)
{
	if (!rank || cm_results_n_ranks(report->inspection->results) > 1 || !rank->pid)
		return 0;
	if (!rank->has_exit_status)
		return put_format(report, "exit",
				  "not recorded (killed, or replaced by exec), pid %ld",
				  (long)rank->pid);
	return put_format(report, "exit", "status %ld, pid %ld", (long)rank->exit_status,
			  (long)rank->pid);
}

static int put_ranks(const struct cm_report *report)
{
	struct cm_results *results = report->inspection->results;
	const int64_t *missing;
	char *text = NULL;
	size_t n, n_ranks = cm_results_n_ranks(results), n_bytes, i;
	int64_t size = cm_results_mpi_size(results);
	FILE *out;
	int rc = 0;

	missing = cm_results_missing_ranks(results, &n);
	if (size > 1 || n_ranks > 1)
		rc = put_format(report, "ranks", "%zu of %ld", n_ranks,
				(long)(size > (int64_t)n_ranks ? size : (int64_t)n_ranks));
	if (rc < 0 || !n)
		return rc;
	out = open_memstream(&text, &n_bytes);
	if (!out)
		return -ENOMEM;
	for (i = 0; i < n && i < MAX_NAMES; i++)
		fprintf(out, "%s%ld", i ? ", " : "", (long)missing[i]);
	if (n > MAX_NAMES)
		fprintf(out, " and %zu more", n - MAX_NAMES);
	rc = fclose(out) ? -ENOMEM
			 : cm_report_say(report, CM_STYLE_WARNING, 4, "  ! missing rank%s: %s",
					 n == 1 ? "" : "s", text);
	free(text);
	return rc;
}

int cm_report_header(const struct cm_report *report)
{
	struct cm_results *results = report->inspection->results;
	const struct cm_result_rank *rank = first_rank(report);
	const char *version = cm_results_version(results), *run_id = cm_results_run_id(results);
	int rc;

	rc = cm_report_say(report, CM_STYLE_BOLD, 2, "%s", report->path);
	if (rc >= 0)
		rc = put_program(report, rank);
	if (rc >= 0)
		rc = put_place(report, rank);
	if (rc >= 0)
		rc = put_exit(report, rank);
	if (rc >= 0 && *version)
		rc = put_format(report, "written", "by callmark %s%s%s", version,
				*run_id ? ", run " : "", run_id);
	else if (rc >= 0)
		rc = put_field(report, "written", 1,
			       "not by callmark: all numbers come from the traces");
	return rc < 0 ? rc : put_ranks(report);
}
