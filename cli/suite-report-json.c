/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a suite as JSON, a row of the suite a line. */
#include "cli/json-build.h"
#include "cli/suite.h"

#define N_TEXT_BYTES 4097

static json_t *make_integers(struct cm_json *json, const struct cm_bundle_integers *integers)
{
	json_t *list = json_array();

	for (size_t i = 0; i < integers->n; i++)
		cm_json_push(json, list, json_integer(integers->values[i]));
	return list;
}

static json_t *make_texts(struct cm_json *json, const struct cm_bundle_texts *texts)
{
	return cm_json_texts(json, texts->texts, texts->n);
}

/* What a worker printed; NUL and what is no UTF-8 become U+FFFD. */
static json_t *make_bytes(const struct cm_bundle_bytes *bytes)
{
	char text[N_TEXT_BYTES];
	size_t n = bytes->n < N_TEXT_BYTES ? bytes->n : N_TEXT_BYTES - 1;

	for (size_t i = 0; i < n; i++)
		text[i] = bytes->bytes[i] ? bytes->bytes[i] : '\xff';
	text[n] = '\0';
	return cm_json_text(text);
}

static json_t *make_observations(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bundle->n_observations; i++) {
		const struct cm_bundle_observation *from = &bundle->observations[i];
		json_t *to = json_object();

		cm_json_set(json, to, "definition_id", cm_json_text(from->definition_id));
		cm_json_set(json, to, "event", cm_json_text(from->event));
		cm_json_set(json, to, "counter", cm_json_text(from->counter));
		cm_json_set(json, to, "cpu", json_integer(from->cpu_id));
		cm_json_set(json, to, "unit", cm_json_text(from->unit));
		cm_json_set(json, to, "raw_value", cm_json_text(from->raw_value));
		cm_json_set(json, to, "value", cm_json_real(from->value));
		cm_json_push(json, list, to);
	}
	return list;
}

static json_t *make_diagnostic(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *to = json_object();

	cm_json_set(json, to, "step", cm_json_text(bundle->step));
	cm_json_set(json, to, "pid", json_integer(bundle->pid));
	cm_json_set(json, to, "wait_status", json_integer(bundle->wait_status));
	cm_json_set(json, to, "timed_out", json_boolean(bundle->is_timed_out));
	cm_json_set(json, to, "folder", cm_json_text(bundle->folder));
	cm_json_set(json, to, "environment", make_texts(json, &bundle->environment));
	cm_json_set(json, to, "last_output", make_bytes(&bundle->last_output));
	return to;
}

/* What holds for all observations. */
static void add_window(struct cm_json *json, json_t *to, const struct cm_bundle *bundle)
{
	cm_json_set(json, to, "scope", cm_json_text(CM_BUNDLE_SCOPE));
	cm_json_set(json, to, "access_mode", cm_json_text(bundle->access_mode));
	cm_json_set(json, to, "perf_pid",
		    bundle->has_perf_pid ? json_integer(bundle->perf_pid) : json_null());
	cm_json_set(json, to, "allowed_cpus", make_integers(json, &bundle->allowed_cpuids));
	cm_json_set(json, to, "group_time_seconds",
		    bundle->has_group_time ? cm_json_real(bundle->group_time_seconds)
					   : json_null());
	cm_json_set(json, to, "enabled_time", json_null());
	cm_json_set(json, to, "running_time", json_null());
	cm_json_set(json, to, "times_absent", cm_json_text(CM_BUNDLE_TIME_ABSENT));
	cm_json_set(json, to, "encoding", cm_json_text(CM_BUNDLE_ENCODING));
	cm_json_set(json, to, "exact_integer", json_false());
	cm_json_set(json, to, "scaled", json_false());
}

static json_t *make_evidence(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *to = json_object();

	cm_json_set(json, to, "attempt_id", cm_json_text(bundle->attempt_id));
	add_window(json, to, bundle);
	cm_json_set(json, to, "cpu_name", cm_json_text(bundle->cpu_name));
	cm_json_set(json, to, "is_simulated", json_boolean(cm_suite_is_simulated(bundle)));
	cm_json_set(json, to, "library", cm_json_text(bundle->library));
	cm_json_set(json, to, "backend_added_events",
		    make_texts(json, &bundle->backend_added_events));
	cm_json_set(json, to, "likwid_variables", make_texts(json, &bundle->variables));
	cm_json_set(json, to, "observations", make_observations(json, bundle));
	cm_json_set(json, to, "diagnostic", make_diagnostic(json, bundle));
	return to;
}

static json_t *make_declaration(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *to = json_object();

	cm_json_set(json, to, "events", cm_json_text(bundle->event_set));
	cm_json_set(json, to, "cpus", make_integers(json, &bundle->cpuids));
	cm_json_set(json, to, "units", make_texts(json, &bundle->units));
	cm_json_set(json, to, "timeout", json_integer(bundle->timeout_s));
	cm_json_set(json, to, "worker", cm_json_text(bundle->worker));
	cm_json_set(json, to, "worker_sha256", cm_json_text(bundle->worker_sha256));
	cm_json_set(json, to, "files", make_texts(json, &bundle->files));
	cm_json_set(json, to, "oracle", cm_json_text(bundle->oracle_function));
	cm_json_set(json, to, "oracle_required", json_boolean(bundle->is_oracle_required));
	cm_json_set(json, to, "target_kind", cm_json_text(bundle->target_kind));
	cm_json_set(json, to, "target_version", cm_json_text(bundle->target_version));
	cm_json_set(json, to, "target_source", cm_json_text(bundle->target_source));
	return to;
}

static json_t *make_identity(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *to = json_object();

	cm_json_set(json, to, "source_sha256", cm_json_text(bundle->source_sha256));
	cm_json_set(json, to, "target_sha256", cm_json_text(bundle->target_sha256));
	cm_json_set(json, to, "target_build_id", cm_json_text(bundle->target_build_id));
	cm_json_set(json, to, "target_soname", cm_json_text(bundle->target_soname));
	cm_json_set(json, to, "target_version", cm_json_text(bundle->found_version));
	return to;
}

static json_t *make_probes(struct cm_json *json, const struct cm_bundle *bundle)
{
	json_t *list = json_array();

	for (size_t i = 0; i < bundle->n_probes; i++) {
		json_t *to = json_object();

		cm_json_set(json, to, "function", cm_json_text(bundle->probes[i].function));
		cm_json_set(json, to, "blocking", json_boolean(bundle->probes[i].is_blocking));
		cm_json_set(json, to, "state", cm_json_text(bundle->probes[i].state));
		cm_json_push(json, list, to);
	}
	return list;
}

static void add_bundle(struct cm_json *json, json_t *to, const struct cm_bundle *bundle)
{
	cm_json_set(json, to, "verdict", cm_json_text(bundle->verdict));
	cm_json_set(json, to, "status", cm_json_text(bundle->status));
	cm_json_set(json, to, "reason", cm_json_text(bundle->reason));
	cm_json_set(json, to, "detail", cm_json_text(bundle->detail));
	cm_json_set(json, to, "oracle", cm_json_text(bundle->oracle));
	cm_json_set(json, to, "probes", make_probes(json, bundle));
	cm_json_set(json, to, "n_warnings", json_integer(bundle->n_warnings));
	cm_json_set(json, to, "planned", json_boolean(*bundle->planned));
	cm_json_set(json, to, "started", cm_json_text(bundle->started));
	cm_json_set(json, to, "elapsed_seconds", cm_json_real(bundle->elapsed_seconds));
	cm_json_set(json, to, "host", cm_json_text(bundle->host));
	cm_json_set(json, to, "declaration", make_declaration(json, bundle));
	cm_json_set(json, to, "identity", make_identity(json, bundle));
	cm_json_set(json, to, "evidence",
		    bundle->is_attempted ? make_evidence(json, bundle) : json_null());
}

static void begin(struct cm_suite_report *report)
{
	struct cm_json json = {.out = report->out};
	json_t *to = json_object(), *counts = json_object();
	const struct cm_suite_check *check = report->check;

	for (int i = 0; i < CM_N_ROW_VERDICTS; i++)
		cm_json_set(&json, counts, cm_row_verdict_name((enum cm_row_verdict)i),
			    cm_json_unsigned(check->tally.n[i]));
	cm_json_set(&json, to, "suite", cm_json_text(report->suite->name));
	cm_json_set(&json, to, "run_id", cm_json_text(check->run_id));
	cm_json_set(&json, to, "verdict", cm_json_text(report->verdict));
	cm_json_set(&json, to, "complete", json_boolean(check->is_complete));
	cm_json_set(&json, to, "n_rows", cm_json_unsigned(check->n_rows));
	cm_json_set(&json, to, "counts", counts);
	fputc('{', report->out);
	cm_json_dump(&json, to, JSON_EMBED);
	fputs(",\"rows\":[", report->out);
	report->is_failed |= json.is_bad;
}

static void show_row(struct cm_suite_report *report, size_t row_idx, const struct cm_bundle *bundle)
{
	const struct cm_suite_row *row = &report->suite->rows[row_idx];
	struct cm_json json = {.out = report->out};
	json_t *to = json_object();

	cm_json_set(&json, to, "row", cm_json_unsigned(row_idx + 1));
	cm_json_set(&json, to, "case", cm_json_text(row->case_id));
	cm_json_set(&json, to, "target", cm_json_text(row->target_id));
	if (bundle)
		add_bundle(&json, to, bundle);
	else
		cm_json_set(&json, to, "verdict", json_null()); /* the run ended before it */
	fputs(row_idx ? ",\n" : "\n", report->out);
	cm_json_dump(&json, to, 0);
	report->is_failed |= json.is_bad;
}

static void end(struct cm_suite_report *report)
{
	fputs("\n]}\n", report->out);
}

const struct cm_suite_reporter cm_suite_json_reporter = {begin, show_row, NULL, end};
