/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile reply of a worker process: what is accepted has all that its sizes say, and is sane. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "collector/worker-reply.h"
#include "collector/worker-steps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static const int cpus[] = {0, 3};
static const struct cm_measure_event events[] = {{"A", "PMC0", "1"}, {"B", "PMC1", "s"}};
static const struct cm_measure_plan plan = {
	.event_set = "A:PMC0,B:PMC1", .events = events, .n_events = 2, .cpus = cpus, .n_cpus = 2};
static const struct cm_worker_probe probes[] = {{"p", true}, {"q", false}};
static volatile size_t n_seen; /* all of it is there: AddressSanitizer watches */

static void check(const struct cm_worker_outcome *outcome)
{
	const struct cm_counter_result *window = &outcome->window;

	n_seen += strlen(outcome->reason) + strlen(outcome->detail) + strlen(window->cpu_name) +
		  strlen(window->library) + strlen(outcome->identity.source_sha256);
	assert(outcome->n_probes == 2 && outcome->n_warnings <= 1);
	assert(window->n_records == 0 || window->n_records == 4);
	for (size_t i = 0; i < window->n_records; i++)
		assert(isfinite(window->records[i].value) && window->records[i].value >= 0);
	for (size_t i = 0; i < window->n_allowed_cpuids; i++)
		n_seen += (size_t)window->allowed_cpuids[i];
	for (size_t i = 0; i < window->n_backend_added_events; i++)
		n_seen += strlen(window->backend_added_events[i]);
	for (size_t i = 0; i < window->n_variables; i++)
		n_seen += strlen(window->variables[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_worker_row row = {
		.oracle = n_bytes % 2 ? "o" : NULL, .probes = probes, .n_probes = 2};
	struct cm_worker_outcome outcome;
	struct cm_diag diag = {0};

	if (cm_worker_outcome_init(&outcome, &row) < 0)
		return 0;
	if (cm_worker_reply_parse((const char *)data, n_bytes, 7, &row, &plan, &outcome, &diag) < 0)
		assert(diag.text[0]);
	check(&outcome);
	cm_worker_outcome_fini(&outcome);
	return 0;
}
