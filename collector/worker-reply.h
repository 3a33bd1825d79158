/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What callmark-worker hands back, in a memory file: one byte that says how far it has come, and
 * from CM_REPLY_HEAD_BYTES on, written as the last thing, one JSON object:
 *
 *	{"callmark_worker": 1, "status": "complete", "reason": "", "detail": "",
 *	 "oracle": "passed", "probes": ["held"],
 *	 "identity": {"source_sha256": "...", "target_sha256": "", "target_build_id": "",
 *	              "target_soname": "", "target_version": ""},
 *	 "window": null or {"status": "complete", "reason": "", "detail": "", "was_called": true,
 *	            "fn_status": 0, "values": [CPU by CPU, in event order], "group_time_s": 0.5,
 *	            "access_mode": "DAEMON", "perf_pid": null, "allowed_cpuids": [0, 1],
 *	            "added_events": [], "variables": [], "cpu": "...", "library": "..."},
 *	 "complete": true}
 *
 * Numbers have 17 digits. The code of the worker object runs in the same process and could write
 * to the file: reading checks everything, what it says against itself and against the row.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_REPLY_H
#define CALLMARK_COLLECTOR_WORKER_REPLY_H

#include "collector/measure-plan.h"
#include "collector/worker-run.h"

#define CM_REPLY_HEAD_BYTES 8
#define CM_REPLY_MAX_BYTES (16u << 20)

/* Steps in their order; X(enumerator, name) */
#define CM_WORKER_STEPS(X)                         \
	X(CM_STEP_START, "start")                  \
	X(CM_STEP_SOURCE, "source check")          \
	X(CM_STEP_TARGET, "target check")          \
	X(CM_STEP_LOAD, "load")                    \
	X(CM_STEP_SETUP, "perf_setup")             \
	X(CM_STEP_PROBES, "probes")                \
	X(CM_STEP_WINDOW, "opening the window")    \
	X(CM_STEP_WORKLOAD, "perf_workload")       \
	X(CM_STEP_SYNCHRONIZE, "perf_synchronize") \
	X(CM_STEP_CLOSE, "closing the window")     \
	X(CM_STEP_ORACLE, "oracle")                \
	X(CM_STEP_CLEANUP, "perf_cleanup")         \
	X(CM_STEP_REPLY, "end")

enum cm_worker_step {
#define CM_WORKER_STEP_ENUM(enumerator, name) enumerator,
	CM_WORKER_STEPS(CM_WORKER_STEP_ENUM)
#undef CM_WORKER_STEP_ENUM
		CM_N_WORKER_STEPS,
};

/* "unknown" for another number. */
const char *cm_worker_step_name(unsigned int step);

/* The worker's side. */
void cm_worker_reply_step(int fd, enum cm_worker_step step);
int cm_worker_reply_write(int fd, const struct cm_worker_outcome *outcome);

/*
 * Our side: status to identity and window of the outcome are set, and diagnostics.raw. `pid` is
 * that of the worker. -ENODATA: nothing was written; -EINVAL: nonsense; the outcome is then as it
 * was, but for raw.
 */
int cm_worker_reply_read(int fd, pid_t pid, const struct cm_worker_row *row,
			 const struct cm_measure_plan *plan, struct cm_worker_outcome *outcome,
			 struct cm_diag *diag);

/* The same from memory, and without raw. */
int cm_worker_reply_parse(const char *text, size_t n_bytes, pid_t pid,
			  const struct cm_worker_row *row, const struct cm_measure_plan *plan,
			  struct cm_worker_outcome *outcome, struct cm_diag *diag);

/* How far it has come, by the head. */
unsigned int cm_worker_reply_get_step(int fd);

#endif
