/* SPDX-License-Identifier: BSD-3-Clause */
/* From a row and its outcome to what is kept of it. */
#include "collector/suite-bundle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "collector/sha256.h"
#include "collector/suite-verdict.h"

#define DEFINITION_BYTES 4096

void cm_suite_uuid_make(char uuid[CM_UUID_BYTES])
{
	uuid_t id;

	uuid_generate_random(id);
	uuid_unparse_lower(id, uuid);
}

int cm_suite_definition_id(const struct cm_bundle *bundle,
			   const struct cm_bundle_observation *observation, char *text,
			   struct cm_diag *diag)
{
	char definition[DEFINITION_BYTES];
	int n = snprintf(definition, sizeof(definition),
			 "event=%s\ncounter=%s\ncpu=%lld\nunit=%s\nmode=%s\nperf_pid=%s\n",
			 observation->event, observation->counter, (long long)observation->cpu_id,
			 observation->unit, bundle->access_mode,
			 bundle->has_perf_pid ? "set" : "not set");

	if (n < 0 || (size_t)n >= sizeof(definition))
		return cm_diag_set(diag, -EINVAL, "event %s: its names are too long",
				   observation->event);
	return cm_sha256_bytes(definition, (size_t)n, text, diag);
}

static int copy_integers(struct cm_bundle_integers *integers, const int *from, size_t n,
			 struct cm_arena *arena)
{
	int64_t *values = cm_arena_array(arena, n, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i] = from[i];
	*integers = (struct cm_bundle_integers){values, n};
	return 0;
}

/* "EVENT=UNIT" for each unit, "SHA-256  path" for each file. */
static int make_lists(struct cm_bundle *bundle, const struct cm_worker_row *row,
		      struct cm_arena *arena)
{
	const struct cm_declaration *declaration = &row->declaration;
	const char **units = cm_arena_array(arena, declaration->n_units, sizeof(*units));
	const char **files = cm_arena_array(arena, row->n_files, sizeof(*files));

	if (!units || !files)
		return -ENOMEM;
	for (size_t i = 0; i < declaration->n_units; i++) {
		units[i] = cm_arena_format(arena, "%s=%s", declaration->units[i].event,
					   declaration->units[i].unit);
		if (!units[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < row->n_files; i++) {
		files[i] =
			cm_arena_format(arena, "%s  %s", row->files[i].sha256, row->files[i].path);
		if (!files[i])
			return -ENOMEM;
	}
	bundle->units = (struct cm_bundle_texts){units, declaration->n_units};
	bundle->files = (struct cm_bundle_texts){files, row->n_files};
	return copy_integers(&bundle->cpuids, declaration->cpuids, declaration->n_cpuids, arena);
}

static const char *text_of(const char *text)
{
	return text ? text : "";
}

static int declare(struct cm_bundle *bundle, const struct cm_suite_about *about,
		   const struct cm_suite_row *row, struct cm_arena *arena)
{
	const struct cm_worker_row *worker = &row->worker;

	*bundle = (struct cm_bundle){
		.suite = about->suite,
		.run_id = about->run_id,
		.row = (int64_t)about->row_idx + 1,
		.case_id = row->case_id,
		.target_id = row->target_id,
		.target_kind = row->target_kind,
		.target_version = text_of(worker->target.version),
		.target_source = text_of(worker->target.path),
		.host = text_of(about->host),
		.started = text_of(about->started),
		.event_set = text_of(worker->declaration.event_set),
		.worker = text_of(worker->source.path),
		.worker_sha256 = text_of(worker->source.sha256),
		.oracle_function = text_of(worker->oracle),
		.is_oracle_required = worker->is_oracle_required,
		.timeout_s = worker->timeout_s ? worker->timeout_s : CM_WORKER_TIMEOUT_S,
		.planned = text_of(row->planned),
		.access_mode = cm_access_mode_name(CM_ACCESS_NOT_RECORDED),
	};
	return make_lists(bundle, worker, arena);
}

static int make_probes(struct cm_bundle *bundle, const struct cm_worker_row *row,
		       const struct cm_worker_outcome *outcome, struct cm_arena *arena)
{
	struct cm_bundle_probe *probes = cm_arena_array(arena, row->n_probes, sizeof(*probes));

	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < row->n_probes; i++) {
		enum cm_worker_probe_state state =
			outcome && i < outcome->n_probes ? outcome->probes[i] : CM_PROBE_NOT_RUN;

		probes[i].function = row->probes[i].function;
		probes[i].is_blocking = row->probes[i].is_blocking;
		probes[i].state = cm_worker_probe_name(state);
	}
	bundle->probes = probes;
	bundle->n_probes = row->n_probes;
	return 0;
}

static void qualify(struct cm_bundle *bundle, const struct cm_worker_outcome *outcome)
{
	const struct cm_worker_identity *identity = &outcome->identity;

	bundle->verdict = cm_row_verdict_name(cm_row_verdict_of(outcome->status));
	bundle->status = cm_counter_status_name(outcome->status);
	bundle->reason = outcome->reason;
	bundle->detail = outcome->detail;
	bundle->oracle = cm_worker_oracle_name(outcome->oracle);
	bundle->n_warnings = (int64_t)outcome->n_warnings;
	bundle->elapsed_seconds = outcome->diagnostics.elapsed_s;
	bundle->source_sha256 = text_of(identity->source_sha256);
	bundle->target_sha256 = text_of(identity->target_sha256);
	bundle->target_build_id = text_of(identity->target_build_id);
	bundle->target_soname = text_of(identity->target_soname);
	bundle->found_version = text_of(identity->target_version);
}

static int observe(struct cm_bundle *bundle, const struct cm_counter_result *window,
		   struct cm_arena *arena, struct cm_diag *diag)
{
	struct cm_bundle_observation *observations =
		cm_arena_array(arena, window->n_records, sizeof(*observations));
	int rc = observations ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < window->n_records; i++) {
		const struct cm_counter_record *record = &window->records[i];
		char *id = cm_arena_array(arena, CM_SHA256_TEXT_BYTES, 1);

		observations[i] = (struct cm_bundle_observation){
			.definition_id = id,
			.event = record->event,
			.counter = record->counter,
			.cpu_id = record->cpu_id,
			.unit = record->unit,
			.raw_value = cm_arena_format(arena, "%.17g", record->value),
			.value = record->value,
		};
		if (!id || !observations[i].raw_value)
			rc = -ENOMEM;
		else
			rc = cm_suite_definition_id(bundle, &observations[i], id, diag);
	}
	bundle->observations = observations;
	bundle->n_observations = window->n_records;
	return rc;
}

static int attest(struct cm_bundle *bundle, const struct cm_suite_about *about,
		  const struct cm_worker_outcome *outcome, struct cm_arena *arena,
		  struct cm_diag *diag)
{
	const struct cm_counter_result *window = &outcome->window;
	int rc;

	bundle->is_attempted = true;
	bundle->attempt_id = about->attempt_id;
	bundle->access_mode = cm_access_mode_name(window->access_mode);
	bundle->cpu_name = text_of(window->cpu_name);
	bundle->library = text_of(window->library);
	bundle->has_group_time = window->has_group_time;
	bundle->group_time_seconds = window->group_time_seconds;
	bundle->has_perf_pid = window->has_perf_pid;
	bundle->perf_pid = window->perf_pid;
	bundle->backend_added_events = (struct cm_bundle_texts){window->backend_added_events,
								window->n_backend_added_events};
	bundle->variables = (struct cm_bundle_texts){window->variables, window->n_variables};
	rc = copy_integers(&bundle->allowed_cpuids, window->allowed_cpuids,
			   window->n_allowed_cpuids, arena);
	return rc < 0 ? rc : observe(bundle, window, arena, diag);
}

static void diagnose(struct cm_bundle *bundle, const struct cm_worker_diagnostics *from)
{
	bundle->pid = from->pid;
	bundle->wait_status = from->wait_status;
	bundle->is_timed_out = from->is_timed_out;
	bundle->step = text_of(from->step);
	bundle->folder = text_of(from->folder);
	bundle->environment = (struct cm_bundle_texts){from->environment, from->n_environment};
	bundle->last_output = (struct cm_bundle_bytes){from->tail, from->n_tail};
	bundle->handed_over =
		(struct cm_bundle_bytes){text_of(from->raw), strlen(text_of(from->raw))};
}

static void plan(struct cm_bundle *bundle, const struct cm_suite_row *row)
{
	bundle->verdict = cm_row_verdict_name(CM_ROW_UNAVAILABLE);
	bundle->status = cm_counter_status_name(CM_COUNTER_UNAVAILABLE);
	bundle->reason = row->planned;
	bundle->detail = "";
	bundle->source_sha256 = bundle->target_sha256 = bundle->target_build_id = "";
	bundle->target_soname = bundle->found_version = "";
	bundle->oracle = cm_worker_oracle_name(row->worker.oracle ? CM_ORACLE_NOT_CHECKED
								  : CM_ORACLE_NOT_DECLARED);
}

int cm_suite_bundle_make(struct cm_bundle *bundle, const struct cm_suite_about *about,
			 const struct cm_suite_row *row, const struct cm_worker_outcome *outcome,
			 struct cm_arena *arena, struct cm_diag *diag)
{
	int rc = declare(bundle, about, row, arena);

	if (rc == 0)
		rc = make_probes(bundle, &row->worker, outcome, arena);
	if (rc == 0 && outcome) {
		qualify(bundle, outcome);
		diagnose(bundle, &outcome->diagnostics);
		rc = attest(bundle, about, outcome, arena, diag);
	} else if (rc == 0) {
		plan(bundle, row);
	}
	if (rc == -ENOMEM)
		return cm_diag_set(diag, rc, "row %s/%s: out of memory", row->case_id,
				   row->target_id);
	return rc < 0 ? rc : cm_bundle_check(bundle, diag);
}
