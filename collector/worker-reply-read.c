/* SPDX-License-Identifier: BSD-3-Clause */
/* Our side of worker-reply.h: nothing is believed that does not fit. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/worker-reply.h"

#define MAX_RAW_BYTES 65536u
#define MAX_TEXTS 4096
#define MAX_CPUS (1 << 20)

struct reading {
	const struct cm_worker_row *row;
	const struct cm_measure_plan *plan;
	pid_t pid;
	struct cm_worker_outcome made;
	struct cm_arena *arena;
};

/* Without NUL inside: it will be a C string. */
static int take_text(struct reading *reading, const json_t *from, const char *key,
		     const char **ret_text)
{
	const json_t *value = json_object_get(from, key);
	const char *text = json_string_value(value), *copy;

	if (!text || strlen(text) != json_string_length(value))
		return -EINVAL;
	copy = cm_arena_copy(reading->arena, text, strlen(text));
	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

static int take_texts(struct reading *reading, const json_t *list, const char *const **ret_texts,
		      size_t *ret_n)
{
	size_t n = json_array_size(list);
	const char **texts;

	if (!json_is_array(list) || n > MAX_TEXTS)
		return -EINVAL;
	texts = cm_arena_array(reading->arena, n, sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *text = json_array_get(list, i);

		if (!json_is_string(text))
			return -EINVAL;
		texts[i] = cm_arena_copy(reading->arena, json_string_value(text),
					 json_string_length(text));
		if (!texts[i])
			return -ENOMEM;
	}
	*ret_texts = texts;
	*ret_n = n;
	return 0;
}

/* The number of a name, by the function that makes names of numbers. */
#define FIND_NAME(value, n, name_of)                                         \
	({                                                                   \
		const char *wanted = json_string_value(value);               \
		int found = -EINVAL;                                         \
		for (int nth = 0; wanted && found < 0 && nth < (n); nth++) { \
			if (!strcmp(wanted, name_of(nth)))                   \
				found = nth;                                 \
		}                                                            \
		found;                                                       \
	})

static int take_status(const json_t *from, enum cm_counter_status *ret_status)
{
	int status = FIND_NAME(json_object_get(from, "status"), CM_COUNTER_FAILED + 1,
			       cm_counter_status_name);

	if (status < 0)
		return status;
	*ret_status = (enum cm_counter_status)status;
	return 0;
}

static int take_probes(struct reading *reading, const json_t *list)
{
	size_t n = json_array_size(list);
	enum cm_worker_probe_state *probes;

	if (!json_is_array(list) || n != reading->row->n_probes)
		return -EINVAL;
	probes = cm_arena_array(reading->arena, n, sizeof(*probes));
	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int state = FIND_NAME(json_array_get(list, i), CM_PROBE_MISSED + 1,
				      cm_worker_probe_name);

		if (state < 0)
			return state;
		probes[i] = (enum cm_worker_probe_state)state;
		reading->made.n_warnings +=
			probes[i] == CM_PROBE_MISSED && !reading->row->probes[i].is_blocking;
	}
	reading->made.probes = probes;
	reading->made.n_probes = n;
	return 0;
}

static int take_identity(struct reading *reading, const json_t *from)
{
	struct cm_worker_identity *identity = &reading->made.identity;
	struct {
		const char *key;
		const char **text;
	} texts[] = {
		{"source_sha256", &identity->source_sha256},
		{"target_sha256", &identity->target_sha256},
		{"target_build_id", &identity->target_build_id},
		{"target_soname", &identity->target_soname},
		{"target_version", &identity->target_version},
	};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(texts) / sizeof(*texts); i++)
		rc = take_text(reading, from, texts[i].key, texts[i].text);
	return rc;
}

/* Names, CPUs and units are ours. */
static int take_values(struct reading *reading, const json_t *list)
{
	const struct cm_measure_plan *plan = reading->plan;
	struct cm_counter_result *window = &reading->made.window;
	bool is_complete = window->status == CM_COUNTER_COMPLETE;
	size_t n = is_complete ? plan->n_events * plan->n_cpus : 0;
	struct cm_counter_record *records = cm_arena_array(reading->arena, n, sizeof(*records));

	if (!json_is_array(list) || json_array_size(list) != n)
		return -EINVAL;
	if (!records)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct cm_measure_event *event = &plan->events[i % plan->n_events];
		const json_t *value = json_array_get(list, i);
		double number = json_number_value(value);

		if (!json_is_number(value) || !isfinite(number) || number < 0)
			return -EINVAL;
		records[i] = (struct cm_counter_record){event->name, event->counter,
							plan->cpus[i / plan->n_events], event->unit,
							number};
	}
	window->records = records;
	window->n_records = n;
	return 0;
}

static int take_group_time(struct reading *reading, const json_t *value)
{
	struct cm_counter_result *window = &reading->made.window;

	window->has_group_time = json_is_number(value);
	if (window->has_group_time)
		window->group_time_seconds = json_number_value(value);
	else if (!json_is_null(value))
		return -EINVAL;
	if (window->has_group_time != (window->status == CM_COUNTER_COMPLETE) ||
	    !isfinite(window->group_time_seconds) || window->group_time_seconds < 0)
		return -EINVAL;
	return 0;
}

static int take_perf_pid(struct reading *reading, const json_t *value)
{
	struct cm_counter_result *window = &reading->made.window;

	if (json_is_null(value))
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) != reading->pid)
		return -EINVAL;
	window->has_perf_pid = true;
	window->perf_pid = reading->pid;
	return 0;
}

static int take_allowed(struct reading *reading, const json_t *list)
{
	size_t n = json_array_size(list);
	json_int_t last = -1;
	int *cpus;

	if (!json_is_array(list) || n > MAX_CPUS)
		return -EINVAL;
	cpus = cm_arena_array(reading->arena, n, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(list, i);
		json_int_t cpu = json_integer_value(value);

		if (!json_is_integer(value) || cpu <= last || cpu > INT_MAX)
			return -EINVAL;
		cpus[i] = (int)cpu;
		last = cpu;
	}
	reading->made.window.allowed_cpuids = cpus;
	reading->made.window.n_allowed_cpuids = n;
	return 0;
}

static int take_window_texts(struct reading *reading, const json_t *from)
{
	struct cm_counter_result *window = &reading->made.window;
	int rc = take_text(reading, from, "reason", &window->reason);

	if (rc == 0)
		rc = take_text(reading, from, "detail", &window->detail);
	if (rc == 0)
		rc = take_text(reading, from, "cpu", &window->cpu_name);
	if (rc == 0)
		rc = take_text(reading, from, "library", &window->library);
	if (rc == 0)
		rc = take_texts(reading, json_object_get(from, "added_events"),
				&window->backend_added_events, &window->n_backend_added_events);
	if (rc == 0)
		rc = take_texts(reading, json_object_get(from, "variables"), &window->variables,
				&window->n_variables);
	return rc;
}

static int take_window(struct reading *reading, const json_t *from)
{
	struct cm_counter_result *window = &reading->made.window;
	const json_t *was_called = json_object_get(from, "was_called");
	const json_t *fn_status = json_object_get(from, "fn_status");
	int mode = FIND_NAME(json_object_get(from, "access_mode"), CM_ACCESS_DAEMON + 1,
			     cm_access_mode_name);
	int rc = take_status(from, &window->status);

	if (rc < 0 || mode < 0 || !json_is_boolean(was_called) || !json_is_integer(fn_status) ||
	    json_integer_value(fn_status) < INT_MIN || json_integer_value(fn_status) > INT_MAX)
		return -EINVAL;
	reading->made.has_window = true;
	window->access_mode = (enum cm_access_mode)mode;
	window->was_called = json_is_true(was_called);
	window->fn_status = (int)json_integer_value(fn_status);
	window->cpuids = reading->plan->cpus;
	window->n_cpuids = reading->plan->n_cpus;
	rc = take_window_texts(reading, from);
	if (rc == 0)
		rc = take_values(reading, json_object_get(from, "values"));
	if (rc == 0)
		rc = take_group_time(reading, json_object_get(from, "group_time_s"));
	if (rc == 0)
		rc = take_perf_pid(reading, json_object_get(from, "perf_pid"));
	if (rc == 0)
		rc = take_allowed(reading, json_object_get(from, "allowed_cpuids"));
	return rc;
}

static size_t count_blocking(const struct reading *reading)
{
	size_t n = 0;

	for (size_t i = 0; i < reading->made.n_probes; i++)
		n += reading->row->probes[i].is_blocking &&
		     reading->made.probes[i] == CM_PROBE_MISSED;
	return n;
}

/* Could callmark-worker have said so? */
static bool is_consistent(const struct reading *reading)
{
	const struct cm_worker_outcome *made = &reading->made;
	bool is_counted = made->has_window && made->window.status == CM_COUNTER_COMPLETE &&
			  made->window.was_called && made->window.fn_status == 0;
	bool has_oracle = reading->row->oracle != NULL;
	bool is_required = has_oracle && reading->row->is_oracle_required;

	if ((made->oracle == CM_ORACLE_NOT_DECLARED) == has_oracle ||
	    (made->status != CM_COUNTER_COMPLETE) != (made->reason[0] != '\0'))
		return false;
	switch (made->status) {
	case CM_COUNTER_COMPLETE:
		return is_counted && count_blocking(reading) == 0 &&
		       (made->oracle == CM_ORACLE_NOT_DECLARED ||
			made->oracle == CM_ORACLE_PASSED ||
			(made->oracle == CM_ORACLE_NOT_CHECKED && !is_required));
	case CM_COUNTER_INVALID:
		return is_counted && (made->oracle == CM_ORACLE_FAILED ||
				      (made->oracle == CM_ORACLE_MISSING && is_required));
	case CM_COUNTER_BLOCKED:
		return !made->has_window && count_blocking(reading) > 0;
	case CM_COUNTER_UNAVAILABLE:
		return !made->has_window ||
		       (made->window.status == CM_COUNTER_UNAVAILABLE && !made->window.was_called);
	default:
		return made->window.n_records == 0;
	}
}

static int take_reply(struct reading *reading, const json_t *from)
{
	const json_t *window = json_object_get(from, "window");
	int oracle = FIND_NAME(json_object_get(from, "oracle"), CM_ORACLE_MISSING + 1,
			       cm_worker_oracle_name);
	int rc = take_status(from, &reading->made.status);

	if (rc < 0 || oracle < 0 || !json_is_true(json_object_get(from, "complete")) ||
	    json_integer_value(json_object_get(from, "callmark_worker")) != 1)
		return -EINVAL;
	reading->made.oracle = (enum cm_worker_oracle)oracle;
	rc = take_text(reading, from, "reason", &reading->made.reason);
	if (rc == 0)
		rc = take_text(reading, from, "detail", &reading->made.detail);
	if (rc == 0)
		rc = take_probes(reading, json_object_get(from, "probes"));
	if (rc == 0)
		rc = take_identity(reading, json_object_get(from, "identity"));
	if (rc == 0 && !json_is_null(window))
		rc = take_window(reading, window);
	return rc == 0 && !is_consistent(reading) ? -EINVAL : rc;
}

int cm_worker_reply_parse(const char *text, size_t n_bytes, pid_t pid,
			  const struct cm_worker_row *row, const struct cm_measure_plan *plan,
			  struct cm_worker_outcome *outcome, struct cm_diag *diag)
{
	struct reading reading = {
		.row = row, .plan = plan, .pid = pid, .made = *outcome, .arena = &outcome->arena};
	json_error_t error;
	json_t *reply = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	struct cm_arena arena;
	int rc;

	if (!reply)
		return cm_diag_set(diag, -EINVAL, "what the worker process handed over is no JSON");
	rc = take_reply(&reading, reply);
	json_decref(reply);
	if (rc == -EINVAL)
		cm_diag_set(diag, rc, "what the worker process handed over does not fit the row");
	if (rc < 0)
		return rc;
	arena = outcome->arena; /* it has grown */
	*outcome = reading.made;
	outcome->arena = arena;
	return 0;
}

unsigned int cm_worker_reply_get_step(int fd)
{
	unsigned char byte = 0xff;

	return pread(fd, &byte, 1, 0) == 1 ? byte : UINT_MAX;
}

int cm_worker_reply_read(int fd, pid_t pid, const struct cm_worker_row *row,
			 const struct cm_measure_plan *plan, struct cm_worker_outcome *outcome,
			 struct cm_diag *diag)
{
	struct stat st;
	size_t n;
	char *text;
	int rc;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= CM_REPLY_HEAD_BYTES)
		return -ENODATA;
	n = (size_t)st.st_size - CM_REPLY_HEAD_BYTES;
	if (n > CM_REPLY_MAX_BYTES)
		return cm_diag_set(diag, -EINVAL, "the worker process handed over %zu bytes", n);
	text = malloc(n);
	if (!text)
		return -ENOMEM;
	if (pread(fd, text, n, CM_REPLY_HEAD_BYTES) != (ssize_t)n) {
		free(text);
		return -EINVAL;
	}
	outcome->diagnostics.raw =
		cm_arena_copy(&outcome->arena, text, n < MAX_RAW_BYTES ? n : MAX_RAW_BYTES);
	rc = outcome->diagnostics.raw
		     ? cm_worker_reply_parse(text, n, pid, row, plan, outcome, diag)
		     : -ENOMEM;
	free(text);
	return rc;
}
