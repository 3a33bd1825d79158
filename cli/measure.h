/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to `callmark measure` (measure*.c): what was asked for, and how the outcome is shown.
 *
 *	cm_measure_options_parse(&job, argc, argv);      exits with 2
 *	cm_measure_print_table(&job, out), cm_measure_print_json(&job, out)
 *	cm_measure_options_fini(&job);
 *
 * Threads: one at a time. Errors: -ENOMEM; what could not be written is left to the stream.
 */
#ifndef CALLMARK_CLI_MEASURE_H
#define CALLMARK_CLI_MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include "collector/worker-run.h"

#define CM_MEASURE_SCOPE "selected-CPU back-end window"

struct cm_measure {
	struct cm_worker_row row;
	int *cpus;		     /* owned: row.declaration's */
	struct cm_event_unit *units; /* likewise; each event is its own copy */
	struct cm_worker_probe *probes;
	const char *output; /* NULL: stdout */
	bool is_json;
	struct cm_worker_outcome outcome;
};

void cm_measure_options_parse(struct cm_measure *job, int argc, char **argv);
void cm_measure_options_fini(struct cm_measure *job);

int cm_measure_print_table(const struct cm_measure *job, FILE *out);
int cm_measure_print_json(const struct cm_measure *job, FILE *out);

/* Does the CPU's name say that its counters are simulated? */
bool cm_measure_is_simulated(const struct cm_measure *job);

#endif
