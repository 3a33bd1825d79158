/* SPDX-License-Identifier: BSD-3-Clause */
/* A row's outcome, on either side of the process. */
#include <errno.h>
#include <string.h>

#include "collector/worker-steps.h"

int cm_worker_outcome_init(struct cm_worker_outcome *outcome, const struct cm_worker_row *row)
{
	memset(outcome, 0, sizeof(*outcome));
	outcome->status = CM_COUNTER_FAILED;
	outcome->reason = outcome->detail = "";
	outcome->window.status = CM_COUNTER_UNAVAILABLE;
	outcome->window.reason = outcome->window.detail = "";
	outcome->window.cpu_name = outcome->window.library = "";
	outcome->oracle = row->oracle ? CM_ORACLE_NOT_CHECKED : CM_ORACLE_NOT_DECLARED;
	outcome->identity = (struct cm_worker_identity){"", "", "", "", ""};
	outcome->diagnostics.step = outcome->diagnostics.folder = outcome->diagnostics.raw = "";
	outcome->probes = cm_arena_array(&outcome->arena, row->n_probes, sizeof(*outcome->probes));
	if (!outcome->probes)
		return -ENOMEM;
	outcome->n_probes = row->n_probes;
	return 0;
}

void cm_worker_outcome_fini(struct cm_worker_outcome *outcome)
{
	cm_arena_fini(&outcome->arena);
	memset(outcome, 0, sizeof(*outcome));
}

const char *cm_worker_oracle_name(enum cm_worker_oracle oracle)
{
	static const char *const names[] = {
		[CM_ORACLE_NOT_DECLARED] = "not_declared",
		[CM_ORACLE_NOT_CHECKED] = "not_checked",
		[CM_ORACLE_PASSED] = "passed",
		[CM_ORACLE_FAILED] = "failed",
		[CM_ORACLE_MISSING] = "missing",
	};

	return (unsigned int)oracle < sizeof(names) / sizeof(*names) ? names[oracle] : "unknown";
}

const char *cm_worker_probe_name(enum cm_worker_probe_state state)
{
	static const char *const names[] = {
		[CM_PROBE_NOT_RUN] = "not_run",
		[CM_PROBE_HELD] = "held",
		[CM_PROBE_MISSED] = "missed",
	};

	return (unsigned int)state < sizeof(names) / sizeof(*names) ? names[state] : "unknown";
}
