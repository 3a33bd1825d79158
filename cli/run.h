/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to cli/run*.c: one `callmark run`, from its options to what is said at its end.
 *
 *	options and rules (run.c) -> cm_run_prepare -> fork, wait (supervise.h) -> cm_run_finish
 */
#ifndef CALLMARK_CLI_RUN_H
#define CALLMARK_CLI_RUN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cli/environ.h"
#include "cli/rule-set.h"
#include "cli/run-folder.h"
#include "cli/run-program.h"
#include "cli/supervise.h"
#include "preload/diag.h"

struct cm_run {
	/* Options; NULL where not given. */
	const char *config;
	char *symbols; /* all -s, joined by ';' */
	const char *output;
	const char *compress;
	const char *clock;
	const char *spool;
	unsigned verbosity;
	char **argv; /* PROGRAM ARGS */

	struct cm_rule_set set;
	struct cm_program program;
	struct cm_environ env; /* the program's */
	struct cm_supervise supervise;
	struct cm_run_folder folder;
	char preload[PATH_MAX];
	char collect[PATH_MAX];
	char run_id[128];
	bool is_ranked; /* we stand inside one rank of a parallel run */
};

/*
 * Everything that can go wrong before the program starts: finds our parts, checks that the output
 * can be written, chooses the run id, makes the run's folder and the environment. Negative errno
 * and a line in diag.
 */
int cm_run_prepare(struct cm_run *run, struct cm_diag *diag);

/*
 * Collect what the program left, say which rules matched nothing and (verbose) where the files
 * are, and take the run's folder away. Never fails: it says what went wrong.
 */
void cm_run_finish(struct cm_run *run, pid_t pid);

#endif
