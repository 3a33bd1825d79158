/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's side of worker-reply.h. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/worker-reply.h"

#define N_DIGITS 17

static const char *const steps[] = {
#define STEP_NAME(enumerator, name) name,
	CM_WORKER_STEPS(STEP_NAME)
#undef STEP_NAME
};

const char *cm_worker_step_name(unsigned int step)
{
	return step < CM_N_WORKER_STEPS ? steps[step] : "unknown";
}

void cm_worker_reply_step(int fd, enum cm_worker_step step)
{
	char byte = (char)step;

	(void)pwrite(fd, &byte, 1, 0); /* only for messages */
}

/* Texts of a CPU's or a library's may be anything: what is no UTF-8 becomes '?'. */
static json_t *make_text(const char *text)
{
	json_t *value = json_string(text);
	char *copy;

	if (value)
		return value;
	copy = strdup(text);
	for (char *p = copy; copy && *p; p++) {
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	}
	value = copy ? json_string(copy) : NULL;
	free(copy);
	return value;
}

/* A failed append makes a length differ, which the reader refuses. */
static json_t *make_texts(const char *const *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(list, make_text(texts[i]));
	return list;
}

static json_t *make_values(const struct cm_counter_result *window)
{
	json_t *list = json_array();

	for (size_t i = 0; i < window->n_records; i++)
		(void)json_array_append_new(list, json_real(window->records[i].value));
	return list;
}

static json_t *make_cpus(const int *cpus, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(list, json_integer(cpus[i]));
	return list;
}

static json_t *make_window(const struct cm_counter_result *window)
{
	return json_pack(
		"{s:s, s:o, s:o, s:b, s:i, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "status",
		cm_counter_status_name(window->status), "reason", make_text(window->reason),
		"detail", make_text(window->detail), "was_called", window->was_called, "fn_status",
		window->fn_status, "values", make_values(window), "group_time_s",
		window->has_group_time ? json_real(window->group_time_seconds) : json_null(),
		"access_mode", cm_access_mode_name(window->access_mode), "perf_pid",
		window->has_perf_pid ? json_integer(window->perf_pid) : json_null(),
		"allowed_cpuids", make_cpus(window->allowed_cpuids, window->n_allowed_cpuids),
		"added_events",
		make_texts(window->backend_added_events, window->n_backend_added_events),
		"variables", make_texts(window->variables, window->n_variables), "cpu",
		make_text(window->cpu_name), "library", make_text(window->library));
}

static json_t *make_reply(const struct cm_worker_outcome *outcome)
{
	const struct cm_worker_identity *identity = &outcome->identity;
	json_t *probes = json_array();

	for (size_t i = 0; i < outcome->n_probes; i++)
		(void)json_array_append_new(probes,
					    json_string(cm_worker_probe_name(outcome->probes[i])));
	return json_pack("{s:i, s:s, s:o, s:o, s:s, s:o, s:{s:s, s:s, s:s, s:o, s:o}, s:o, s:b}",
			 "callmark_worker", 1, "status", cm_counter_status_name(outcome->status),
			 "reason", make_text(outcome->reason), "detail", make_text(outcome->detail),
			 "oracle", cm_worker_oracle_name(outcome->oracle), "probes", probes,
			 "identity", "source_sha256", identity->source_sha256, "target_sha256",
			 identity->target_sha256, "target_build_id", identity->target_build_id,
			 "target_soname", make_text(identity->target_soname), "target_version",
			 make_text(identity->target_version), "window",
			 outcome->has_window ? make_window(&outcome->window) : json_null(),
			 "complete", 1);
}

static int write_all(int fd, const char *text, size_t n_bytes)
{
	size_t n_done = 0;

	while (n_done < n_bytes) {
		ssize_t n = pwrite(fd, text + n_done, n_bytes - n_done,
				   (off_t)(CM_REPLY_HEAD_BYTES + n_done));

		if (n < 0 && errno != EINTR)
			return -errno;
		n_done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int cm_worker_reply_write(int fd, const struct cm_worker_outcome *outcome)
{
	json_t *reply = make_reply(outcome);
	char *text = reply ? json_dumps(reply, JSON_COMPACT | JSON_PRESERVE_ORDER |
						       JSON_REAL_PRECISION(N_DIGITS))
			   : NULL;
	int rc = text ? write_all(fd, text, strlen(text)) : -ENOMEM;

	free(text);
	json_decref(reply);
	return rc;
}
