/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile result of callmark-reader: what is accepted has all that its sizes say. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "collector/reader-result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* All of it is there: AddressSanitizer watches. */
static volatile double sum;
static volatile size_t n_seen;

static void check_counters(const struct cm_profile_counters *counters)
{
	assert(counters->group_id >= 0 && counters->n_cpus > 0);
	n_seen += strlen(counters->tag) + strlen(counters->group_name);
	for (size_t i = 0; i < counters->n_events; i++)
		n_seen += strlen(counters->event_names[i]) + strlen(counters->counter_names[i]);
	for (size_t i = 0; i < counters->n_metrics; i++)
		n_seen += strlen(counters->metric_names[i]);
	for (size_t i = 0; i < counters->n_cpus; i++) {
		assert(counters->cpus[i] >= 0 && counters->call_counts[i] >= 0);
		sum += counters->times[i];
	}
	for (size_t i = 0; i < counters->n_events * counters->n_cpus; i++)
		sum += counters->events[i];
	for (size_t i = 0; i < counters->n_metrics * counters->n_cpus; i++)
		sum += counters->metrics[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	struct cm_reader_result result;
	struct cm_arena arena = {0};
	struct cm_diag diag = {0};

	if (cm_reader_result_parse(&result, (const char *)data, n_bytes, "fuzz", &arena, &diag) < 0)
		assert(diag.text[0]);
	else
		for (size_t i = 0; i < result.n_counters; i++)
			check_counters(&result.counters[i]);
	cm_arena_fini(&arena);
	return 0;
}
