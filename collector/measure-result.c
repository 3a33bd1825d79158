/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header; and the functions on results that callmark/measure.h has. */
#include "collector/measure-result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/measure-window.h"

static void empty(struct cm_counter_result *result)
{
	memset(result, 0, sizeof(*result));
	result->status = CM_COUNTER_FAILED;
	result->reason = result->detail = result->cpu_name = result->library = "";
}

int cm_measure_result_init(struct cm_counter_result *result)
{
	empty(result);
	result->owned = calloc(1, sizeof(struct cm_arena));
	return result->owned ? 0 : -ENOMEM;
}

struct cm_arena *cm_measure_result_arena(struct cm_counter_result *result)
{
	return result->owned;
}

void cm_counter_result_free(struct cm_counter_result *result)
{
	if (result->owned) {
		cm_arena_fini(result->owned);
		free(result->owned);
	}
	empty(result);
}

/* What makes LIKWID behave otherwise. */
static int note_variables(struct cm_counter_result *result)
{
	static const char *const names[] = {"LIKWID_FORCE", "LIKWID_FORCE_SETUP",
					    "LIKWID_PERF_FLAGS", "LIKWID_NO_ACCESS"};
	size_t n_names = sizeof(names) / sizeof(*names);
	const char **variables = cm_arena_array(result->owned, n_names, sizeof(*variables));

	if (!variables)
		return -ENOMEM;
	for (size_t i = 0; i < n_names; i++) {
		const char *value = getenv(names[i]);

		if (!value)
			continue;
		variables[result->n_variables] =
			cm_arena_format(result->owned, "%s=%s", names[i], value);
		if (!variables[result->n_variables])
			return -ENOMEM;
		result->n_variables++;
	}
	result->variables = variables;
	return 0;
}

int cm_measure_result_plan(struct cm_counter_result *result, const struct cm_measure_plan *plan)
{
	result->allowed_cpuids = plan->allowed;
	result->n_allowed_cpuids = plan->n_allowed;
	result->cpuids = plan->cpus;
	result->n_cpuids = plan->n_cpus;
	return note_variables(result);
}

static int copy_text(struct cm_counter_result *result, const char *text, const char **ret_text)
{
	char *copy = cm_arena_copy(result->owned, text, strlen(text));

	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

int cm_measure_result_set_library(struct cm_counter_result *result, const char *path)
{
	return copy_text(result, path, &result->library);
}

int cm_measure_result_note(struct cm_counter_result *result, const struct cm_native *native,
			   const struct cm_measure_plan *plan)
{
	size_t n = native->n_events - plan->n_events;
	const char **added = cm_arena_array(result->owned, n, sizeof(*added));
	int rc = copy_text(result, native->cpu_name, &result->cpu_name);

	if (rc < 0 || !added)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		added[i] = cm_arena_format(result->owned, "%s:%s",
					   cm_native_event(native, plan->n_events + i),
					   cm_native_counter(native, plan->n_events + i));
		if (!added[i])
			return -ENOMEM;
	}
	result->backend_added_events = added;
	result->n_backend_added_events = n;
	return 0;
}

int cm_measure_result_fill(struct cm_counter_result *result, const struct cm_measure_plan *plan,
			   const double *values, double seconds)
{
	size_t n = plan->n_events * plan->n_cpus;
	struct cm_counter_record *records = cm_arena_array(result->owned, n, sizeof(*records));

	if (!records)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct cm_measure_event *event = &plan->events[i % plan->n_events];

		records[i] = (struct cm_counter_record){.event = event->name,
							.counter = event->counter,
							.cpu_id = plan->cpus[i / plan->n_events],
							.unit = event->unit,
							.value = values[i]};
	}
	result->records = records;
	result->n_records = n;
	result->has_group_time = true;
	result->group_time_seconds = seconds;
	return 0;
}

/* Nothing of a window that was not completed may look like a count. */
static void drop_records(struct cm_counter_result *result)
{
	result->records = NULL;
	result->n_records = 0;
	result->has_group_time = false;
	result->group_time_seconds = 0;
}

int cm_measure_result_refuse(struct cm_counter_result *result, const struct cm_refusal *refusal)
{
	drop_records(result);
	result->status = CM_COUNTER_UNAVAILABLE;
	result->reason = cm_refusal_name(refusal->reason);
	if (copy_text(result, refusal->diag.text, &result->detail) < 0)
		return cm_measure_result_end(result, -ENOMEM, NULL);
	return 0;
}

int cm_measure_result_end(struct cm_counter_result *result, int rc, const struct cm_diag *diag)
{
	if (rc >= 0) {
		result->status = CM_COUNTER_COMPLETE;
		return 0;
	}
	drop_records(result);
	result->status = CM_COUNTER_FAILED;
	snprintf(result->error, sizeof(result->error), "%s",
		 diag && diag->text[0] ? diag->text : strerror(-rc));
	/* It lives as long: both are the caller's struct or the arena's. */
	if (!result->owned || copy_text(result, result->error, &result->reason) < 0)
		result->reason = "out of memory";
	return rc;
}

const char *cm_counter_status_name(enum cm_counter_status status)
{
	static const char *const names[] = {
		[CM_COUNTER_COMPLETE] = "complete", [CM_COUNTER_UNAVAILABLE] = "unavailable",
		[CM_COUNTER_BLOCKED] = "blocked",   [CM_COUNTER_INVALID] = "invalid",
		[CM_COUNTER_FAILED] = "failed",
	};

	return (unsigned int)status < sizeof(names) / sizeof(*names) ? names[status] : "unknown";
}

const char *cm_access_mode_name(enum cm_access_mode mode)
{
	static const char *const names[] = {
		[CM_ACCESS_NOT_RECORDED] = "not_recorded",
		[CM_ACCESS_PERF] = "PERF",
		[CM_ACCESS_DIRECT] = "DIRECT",
		[CM_ACCESS_DAEMON] = "DAEMON",
	};

	return (unsigned int)mode < sizeof(names) / sizeof(*names) ? names[mode] : "not_recorded";
}

int cm_measure_counters(int (*fn)(void *ctx), void *ctx, const struct cm_declaration *declaration,
			struct cm_counter_result *result)
{
	static const struct cm_window_options options;

	return cm_window_measure(fn, ctx, declaration, &options, result);
}
