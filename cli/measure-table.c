/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of `callmark measure` for people. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure.h"
#include "cli/table.h"
#include "cli/text.h"

#define NAME_COLUMNS 14

bool cm_measure_is_simulated(const struct cm_measure *job)
{
	return strcasestr(job->outcome.window.cpu_name, "simulated") != NULL;
}

/* "name          text", wrapped. */
static void print_line(FILE *out, const struct cm_terminal *terminal, const char *name,
		       const char *raw)
{
	char *text;

	if (!*raw)
		return;
	if (cm_text_escape(raw, &text) < 0)
		return; /* out of memory: the stream has less, the status says the rest */
	fprintf(out, "%s%-*s%s", cm_terminal_style(terminal, CM_STYLE_DIM), NAME_COLUMNS, name,
		cm_terminal_style(terminal, CM_STYLE_PLAIN));
	cm_text_wrap(out, text, NAME_COLUMNS, NAME_COLUMNS, terminal->n_columns);
	free(text);
}

static void append_cpus(FILE *out, const int *cpus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%d", i ? "," : "", cpus[i]);
}

/* Lines that are put together; their text goes through a buffer so that it is escaped. */
static void print_window(FILE *out, const struct cm_terminal *terminal,
			 const struct cm_measure *job)
{
	const struct cm_counter_result *window = &job->outcome.window;
	char *text = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);

	if (!memory)
		return;
	fprintf(memory, "%s, %s", CM_MEASURE_SCOPE, cm_access_mode_name(window->access_mode));
	if (window->has_perf_pid)
		fprintf(memory, ", LIKWID_PERF_PID %ld", window->perf_pid);
	fputs("; CPUs ", memory);
	append_cpus(memory, job->cpus, job->row.declaration.n_cpuids);
	fputs(" of ", memory);
	append_cpus(memory, window->allowed_cpuids, window->n_allowed_cpuids);
	if (window->has_group_time)
		fprintf(memory, "; group time %.9g s", window->group_time_seconds);
	for (size_t i = 0; i < window->n_backend_added_events; i++)
		fprintf(memory, "%s%s", i ? ", " : "; LIKWID added ",
			window->backend_added_events[i]);
	for (size_t i = 0; i < window->n_variables; i++)
		fprintf(memory, "; %s", window->variables[i]);
	if (fclose(memory) == 0)
		print_line(out, terminal, "window", text);
	free(text);
}

static void print_checks(FILE *out, const struct cm_terminal *terminal,
			 const struct cm_measure *job)
{
	const struct cm_worker_outcome *outcome = &job->outcome;
	char *text = NULL;
	size_t n;
	FILE *memory;

	if (job->row.oracle)
		print_line(out, terminal, "oracle", cm_worker_oracle_name(outcome->oracle));
	memory = open_memstream(&text, &n);
	if (!memory)
		return;
	for (size_t i = 0; i < outcome->n_probes; i++)
		fprintf(memory, "%s%s %s%s", i ? ", " : "", job->row.probes[i].function,
			cm_worker_probe_name(outcome->probes[i]),
			job->row.probes[i].is_blocking ? " (blocking)" : "");
	if (fclose(memory) == 0)
		print_line(out, terminal, "probes", text);
	free(text);
}

static int append_record(struct cm_table *table, const struct cm_counter_record *record)
{
	char cpu[16], value[40];

	snprintf(cpu, sizeof(cpu), "%d", record->cpu_id);
	snprintf(value, sizeof(value), "%.17g", record->value);
	return cm_table_append(
		table, CM_STYLE_PLAIN,
		(const char *const[]){record->event, record->counter, cpu, value, record->unit});
}

static int print_records(FILE *out, const struct cm_terminal *terminal,
			 const struct cm_counter_result *window)
{
	static const struct cm_table_column columns[] = {
		{"event", CM_TABLE_LEFT, .min_columns = 20},
		{"counter", CM_TABLE_LEFT},
		{"CPU", CM_TABLE_RIGHT},
		{"value", CM_TABLE_RIGHT},
		{"unit", CM_TABLE_LEFT},
	};
	struct cm_table *table;
	int rc;

	if (!window->n_records)
		return 0;
	rc = cm_table_new(&table, columns, sizeof(columns) / sizeof(*columns));
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < window->n_records; i++)
		rc = append_record(table, &window->records[i]);
	fputc('\n', out);
	if (rc == 0)
		rc = cm_table_print(table, out, terminal);
	cm_table_free(table);
	return rc;
}

int cm_measure_print_table(const struct cm_measure *job, FILE *out)
{
	const struct cm_worker_outcome *outcome = &job->outcome;
	struct cm_terminal terminal;

	cm_terminal_init(&terminal, out);
	print_line(out, &terminal, "status", cm_counter_status_name(outcome->status));
	print_line(out, &terminal, "reason", outcome->reason);
	print_line(out, &terminal, "detail", outcome->detail);
	if (outcome->has_window)
		print_window(out, &terminal, job);
	print_line(out, &terminal, "CPU", outcome->window.cpu_name);
	if (cm_measure_is_simulated(job))
		print_line(out, &terminal, "simulated",
			   "these counters are simulated: they say nothing about performance");
	print_checks(out, &terminal, job);
	return print_records(out, &terminal, &outcome->window);
}
