/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One declared worker row, or one command, in an isolated process with a deadline: what `callmark
 * measure` and `callmark suite` run.
 *
 *	struct cm_worker_outcome outcome;
 *	rc = cm_worker_run(&row, helper, &outcome, &diag);
 *	... outcome.status, outcome.window.records, outcome.probes ...
 *	cm_worker_outcome_fini(&outcome);
 *
 * The process is callmark-worker (worker-main.c), started afresh: own process group, fixed working
 * directory, the environment and affinity of the caller. Order there: identity of the object and
 * of all declared files, then of the target; load; perf_setup; probes; window; oracle;
 * perf_cleanup. When the deadline (CLOCK_MONOTONIC) has passed, its group gets SIGTERM, 2 s later
 * SIGKILL. Whatever it leaves running is killed, with the group or alone.
 *
 * What comes back is JSON in a memory file that the worker's code could have written to: it is
 * treated as hostile, and names, CPUs and units of the records are the row's own.
 *
 * Threads: one at a time in the process. While it runs, the process is a child subreaper, and
 * children of others than the worker must not be made by it. Errors: see cm_worker_run().
 */
#ifndef CALLMARK_COLLECTOR_WORKER_RUN_H
#define CALLMARK_COLLECTOR_WORKER_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "collector/arena.h"
#include "collector/callmark/measure.h"
#include "preload/diag.h"

#define CM_WORKER_NAME "callmark-worker"
#define CM_WORKER_TIMEOUT_S 300u
#define CM_WORKER_MAX_TIMEOUT_S 31536000u
#define CM_WORKER_TAIL_BYTES 4096
#define CM_WORKER_SHA256_TEXT 65 /* 64 lower-case hexadecimal digits and NUL */

/* A file whose content is declared. */
struct cm_worker_file {
	const char *path;   /* absolute, or relative to the row's folder */
	const char *sha256; /* 64 hexadecimal digits; of the worker object: or NULL, not declared */
};

/* The binary that is measured. All but the path may be NULL: not declared. */
struct cm_worker_target {
	const char *path; /* as above; NULL: no target is declared, and nothing is checked */
	const char *sha256;
	const char *build_id; /* hexadecimal, as `file` and readelf -n print it */
	const char *soname;
	/* What follows ".so." in the name of the file, symbolic links resolved */
	const char *version;
};

struct cm_worker_probe {
	const char *function;
	bool is_blocking;
};

/* All is borrowed during the call. */
struct cm_worker_row {
	struct cm_worker_file source; /* the worker object; path NULL: a command */
	const struct cm_worker_file *files;
	size_t n_files;
	struct cm_worker_target target;
	const char *oracle; /* NULL: none is declared */
	bool is_oracle_required;
	const struct cm_worker_probe *probes;
	size_t n_probes;
	struct cm_declaration declaration;
	unsigned int timeout_s; /* 0: CM_WORKER_TIMEOUT_S */
	const char *folder;	/* working directory; NULL: that of the object, a command's: ours */

	/* Instead of an object: argv, NULL-terminated. It has our stdin, stdout and stderr. */
	const char *const *command;

	/* Set by a signal handler (one without SA_RESTART): stop, return -EINTR. NULL: none. */
	const volatile sig_atomic_t *is_cancelled;
};

enum cm_worker_oracle {
	CM_ORACLE_NOT_DECLARED,
	CM_ORACLE_NOT_CHECKED,
	CM_ORACLE_PASSED,
	CM_ORACLE_FAILED,
	CM_ORACLE_MISSING, /* the object has no such function */
};

enum cm_worker_probe_state {
	CM_PROBE_NOT_RUN,
	CM_PROBE_HELD,
	CM_PROBE_MISSED, /* also: the object has no such function */
};

/* How the process ended, for the diagnostic that goes with every row. */
struct cm_worker_diagnostics {
	pid_t pid;	 /* 0: it could not be started */
	int wait_status; /* waitpid's */
	bool is_timed_out;
	double elapsed_s;
	char tail[CM_WORKER_TAIL_BYTES + 1]; /* last bytes of stdout and stderr, NUL-terminated */
	size_t n_tail;			     /* may have NUL in it */
	const char *step; /* the last one begun: "load", "perf_setup", "perf_workload", ... */
	const char *folder;
	const char *const *environment; /* [n_environment] names of its variables, no values */
	size_t n_environment;
	const char *raw; /* what it handed over, at most 64 KiB, or "" */
};

/* What was found; "" where it was not looked at or there is none. */
struct cm_worker_identity {
	const char *source_sha256;
	const char *target_sha256;
	const char *target_build_id;
	const char *target_soname;
	const char *target_version;
};

struct cm_worker_outcome {
	enum cm_counter_status status; /* of the row */
	const char *reason;	       /* "" only when complete */
	const char *detail;
	/*
	 * The window: its records are those of the row. Where none was opened, its status is
	 * CM_COUNTER_UNAVAILABLE and has_window is false. Never free it.
	 */
	struct cm_counter_result window;
	bool has_window;
	enum cm_worker_oracle oracle;
	const enum cm_worker_probe_state *probes; /* [n_probes] in the row's order */
	size_t n_probes;
	size_t n_warnings; /* missed probes that do not block */
	struct cm_worker_identity identity;
	struct cm_worker_diagnostics diagnostics;
	struct cm_arena arena; /* owns all of it */
};

/*
 * `helper`: path of callmark-worker. 0: the outcome says what happened, failures of the worker
 * included. -EINVAL: the declaration is refused, in diag the text of cm_measure_counters(), and
 * nothing was started. -EINTR: cancelled. Other negative errno: the process could not be made, and
 * diag says why. The outcome needs fini whatever is returned.
 */
int cm_worker_run(const struct cm_worker_row *row, const char *helper,
		  struct cm_worker_outcome *outcome, struct cm_diag *diag);

/*
 * A stdin, stdout or stderr that is closed becomes /dev/null, so that no other descriptor gets its
 * number. cm_worker_run() does it; whoever opens files before that calls it first.
 */
void cm_worker_fill_streams(void);

void cm_worker_outcome_fini(struct cm_worker_outcome *outcome);

/* "not_declared", "not_checked", "passed", "failed", "missing". */
const char *cm_worker_oracle_name(enum cm_worker_oracle oracle);

/* "not_run", "held", "missed". */
const char *cm_worker_probe_name(enum cm_worker_probe_state state);

/*
 * Is the declaration sound (before anything is run)? The checks of cm_measure_counters(), in
 * measure-plan.c. -EINVAL and a line in diag.
 */
int cm_declaration_check(const struct cm_declaration *declaration, struct cm_diag *diag);

#endif
