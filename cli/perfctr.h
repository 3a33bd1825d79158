/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * likwid-perfctr, asked for the marker environment: it is started as for a program with markers
 * (-m), but the program it starts is `callmark capture`, which only writes down the environment
 * and the CPUs that it was given. The real program then runs under `callmark run` itself, in that
 * environment: nothing of it (arguments, descriptors, signals, status) goes through likwid-perfctr.
 *
 *	cm_perfctr_find(&tool, &diag);
 *	rc = cm_perfctr_ask(&perfctr, &supervise, &request, &diag);
 *	for (const char *var = perfctr.vars; *var; var += strlen(var) + 1) ...
 *	cm_perfctr_free(&perfctr);
 *
 * Threads: one, and no other in the process. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_CLI_PERFCTR_H
#define CALLMARK_CLI_PERFCTR_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/run-program.h"
#include "cli/supervise.h"
#include "preload/diag.h"

#define CM_PERFCTR_NAME "likwid-perfctr"
#define CM_PERFCTR_SECONDS 60

#define CM_CAPTURE_NAME "capture"
#define CM_ENV_CAPTURE "CALLMARK_CAPTURE" /* tells it its descriptor */

struct cm_perfctr_request {
	const char *path;
	const char *const *groups;
	size_t n_groups;
	const char *cpus; /* as LIKWID writes them */
	bool pin;	  /* -C, else -c */
};

struct cm_perfctr {
	char *vars;	/* NAME=VALUE strings one after the other, "" at the end; owned */
	cpu_set_t cpus; /* where the program would have been allowed to run */
};

/*
 * The marker environment around us, LIKWID_MODE, _EVENTS, _THREADS and _FILEPATH: one of them that
 * is set and one that is missing, or NULL. No marker is opened unless all are there.
 */
void cm_perfctr_look_around(const char **ret_set, const char **ret_missing);

/* In PATH, else in $LIKWID_HOME/bin. -ENOENT: not installed. */
int cm_perfctr_find(struct cm_program *tool, struct cm_diag *diag);

/*
 * Takes LIKWID's second of initialisation. LD_PRELOAD is not handed to likwid-perfctr: the one in
 * vars holds at most liblikwidpin. -EPROTO: it refused, diag says why in our words. -ETIMEDOUT,
 * -EINTR: as cm_command_run.
 */
int cm_perfctr_ask(struct cm_perfctr *perfctr, const struct cm_supervise *supervise,
		   const struct cm_perfctr_request *request, struct cm_diag *diag);

void cm_perfctr_free(struct cm_perfctr *perfctr);

/* Our words for what it printed when it ended with this status of waitpid's. */
int cm_perfctr_explain(const char *log, int status, const struct cm_perfctr_request *request,
		       struct cm_diag *diag);

#endif
