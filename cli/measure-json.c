/* SPDX-License-Identifier: BSD-3-Clause */
/* The outcome of `callmark measure` as one JSON object. */
#include <errno.h>

#include "cli/json-build.h"
#include "cli/measure.h"

static json_t *make_cpus(struct cm_json *json, const int *cpus, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		cm_json_push(json, list, json_integer(cpus[i]));
	return list;
}

static json_t *make_records(struct cm_json *json, const struct cm_counter_result *window)
{
	json_t *list = json_array();

	for (size_t i = 0; i < window->n_records; i++) {
		const struct cm_counter_record *from = &window->records[i];
		json_t *record = json_object();

		cm_json_set(json, record, "event", cm_json_text(from->event));
		cm_json_set(json, record, "counter", cm_json_text(from->counter));
		cm_json_set(json, record, "cpu_id", json_integer(from->cpu_id));
		cm_json_set(json, record, "unit", cm_json_text(from->unit));
		cm_json_set(json, record, "value", cm_json_real(from->value));
		cm_json_push(json, list, record);
	}
	return list;
}

static void add_window(struct cm_json *json, json_t *object, const struct cm_measure *job)
{
	const struct cm_counter_result *window = &job->outcome.window;

	cm_json_set(json, object, "records", make_records(json, window));
	cm_json_set(json, object, "allowed_cpuids",
		    make_cpus(json, window->allowed_cpuids, window->n_allowed_cpuids));
	cm_json_set(json, object, "cpuids",
		    make_cpus(json, job->cpus, job->row.declaration.n_cpuids));
	cm_json_set(json, object, "group_time_seconds",
		    window->has_group_time ? cm_json_real(window->group_time_seconds)
					   : json_null());
	cm_json_set(json, object, "access_mode",
		    cm_json_text(cm_access_mode_name(window->access_mode)));
	cm_json_set(json, object, "perf_pid",
		    window->has_perf_pid ? json_integer(window->perf_pid) : json_null());
	cm_json_set(
		json, object, "backend_added_events",
		cm_json_texts(json, window->backend_added_events, window->n_backend_added_events));
	cm_json_set(json, object, "likwid_variables",
		    cm_json_texts(json, window->variables, window->n_variables));
	cm_json_set(json, object, "cpu_name", cm_json_text(window->cpu_name));
	cm_json_set(json, object, "is_simulated", json_boolean(cm_measure_is_simulated(job)));
	cm_json_set(json, object, "library", cm_json_text(window->library));
}

static json_t *make_probes(struct cm_json *json, const struct cm_measure *job)
{
	json_t *list = json_array();

	for (size_t i = 0; i < job->outcome.n_probes; i++) {
		json_t *probe = json_object();

		cm_json_set(json, probe, "function", cm_json_text(job->row.probes[i].function));
		cm_json_set(json, probe, "is_blocking",
			    json_boolean(job->row.probes[i].is_blocking));
		cm_json_set(json, probe, "state",
			    cm_json_text(cm_worker_probe_name(job->outcome.probes[i])));
		cm_json_push(json, list, probe);
	}
	return list;
}

static json_t *make_identity(struct cm_json *json, const struct cm_worker_identity *identity)
{
	json_t *object = json_object();

	cm_json_set(json, object, "source_sha256", cm_json_text(identity->source_sha256));
	cm_json_set(json, object, "target_sha256", cm_json_text(identity->target_sha256));
	cm_json_set(json, object, "target_build_id", cm_json_text(identity->target_build_id));
	cm_json_set(json, object, "target_soname", cm_json_text(identity->target_soname));
	cm_json_set(json, object, "target_version", cm_json_text(identity->target_version));
	return object;
}

int cm_measure_print_json(const struct cm_measure *job, FILE *out)
{
	const struct cm_worker_outcome *outcome = &job->outcome;
	struct cm_json json = {.out = out};
	json_t *object = json_object();

	cm_json_set(&json, object, "status", cm_json_text(cm_counter_status_name(outcome->status)));
	cm_json_set(&json, object, "reason", cm_json_text(outcome->reason));
	cm_json_set(&json, object, "detail", cm_json_text(outcome->detail));
	cm_json_set(&json, object, "scope", cm_json_text(CM_MEASURE_SCOPE));
	add_window(&json, object, job);
	cm_json_set(&json, object, "oracle", cm_json_text(cm_worker_oracle_name(outcome->oracle)));
	cm_json_set(&json, object, "probes", make_probes(&json, job));
	cm_json_set(&json, object, "n_warnings", cm_json_unsigned(outcome->n_warnings));
	cm_json_set(&json, object, "identity", make_identity(&json, &outcome->identity));
	cm_json_set(&json, object, "elapsed_seconds", cm_json_real(outcome->diagnostics.elapsed_s));
	cm_json_set(&json, object, "last_output", cm_json_text(outcome->diagnostics.tail));
	cm_json_dump(&json, object, 0);
	fputc('\n', out);
	return json.is_bad && !ferror(out) ? -ENOMEM : 0;
}
