/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to cli/run*.c: one `callmark run`, from its options to what is said at its end.
 *
 *	options and rules (run.c) -> cm_run_prepare -> cm_run_sites -> cm_run_counters
 *	-> fork, wait (supervise.h) -> cm_run_finish
 */
#ifndef CALLMARK_CLI_RUN_H
#define CALLMARK_CLI_RUN_H

#include <limits.h>
#include <sched.h>
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
	const char **groups; /* all -g, n_groups of them; owned */
	size_t n_groups;
	const char *cpus;
	bool keep_shards; /* each rank's file stays, the profile links to it */
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
	bool is_placed; /* likwid-perfctr chose these CPUs for the program */
	cpu_set_t allowed;
	char *marker_file; /* where LIKWID will write what it counted, or NULL; owned */
};

/*
 * Everything that can go wrong before the program starts: finds our parts, checks that the output
 * can be written, chooses the run id, makes the run's folder and the environment. Negative errno
 * and a line in diag.
 */
int cm_run_prepare(struct cm_run *run, struct cm_diag *diag);

/*
 * Ours in front, `pinning` (liblikwidpin, or NULL) behind it, then what the user preloads.
 */
int cm_run_set_preload(struct cm_run *run, const char *pinning, struct cm_diag *diag);

/*
 * With -g: let likwid-perfctr make the marker environment and add it to the program's. 0 also when
 * there will be no counters, after one line that says why. -EINTR: a signal is pending that ends
 * us; nothing must be started. Between cm_supervise_init and its end.
 */
int cm_run_counters(struct cm_run *run);

/*
 * With rules that have internal=yes: make the site files of the program and its libraries that the
 * cache does not have. 0 also when that fails, after one line: the preload tries again and says
 * what cannot be had. -EINTR as above.
 */
int cm_run_sites(struct cm_run *run);

/*
 * Collect what the program left, say which rules matched nothing and (verbose) where the files
 * are, and take the run's folder away. Never fails: it says what went wrong.
 */
void cm_run_finish(struct cm_run *run, pid_t pid);

/* run-wait.c: after a launcher has ended, give its ranks a moment (2 s at most) to end, too. */
void cm_run_wait_ranks(const struct cm_run *run);

#endif
