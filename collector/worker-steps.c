/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. Whatever is decided, perf_cleanup comes once if perf_setup has returned 0. */
#include "collector/worker-steps.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "collector/measure-window.h"
#include "collector/worker-check.h"
#include "collector/worker-reply.h"

struct steps {
	const struct cm_worker_row *row;
	struct cm_worker_outcome *outcome;
	int reply_fd;
	struct cm_counter_result *window; /* owns what outcome->window shows; lives on */
	void *object;
	int (*setup)(void **ret_state);
	int (*workload)(void *state, void **ret_result);
	int (*synchronize)(void *state, void *result);
	int (*cleanup)(void *state);
	void *state;
	void *result;
	const char *failed; /* the function of the window that failed */
	struct cm_worker_command command;
};

static void begin(struct steps *steps, enum cm_worker_step step)
{
	cm_worker_reply_step(steps->reply_fd, step);
}

/* Decide. The row's first reason stands, but cleanup appends (see clean_up). */
static void end(struct steps *steps, enum cm_counter_status status, const char *reason,
		const char *detail)
{
	struct cm_worker_outcome *outcome = steps->outcome;
	char *copy = cm_arena_copy(&outcome->arena, detail, strlen(detail));

	outcome->status = status;
	outcome->reason = reason ? reason : "out of memory";
	outcome->detail = copy ? copy : "";
}

/* printf for reasons */
#define REASON(steps, ...) cm_arena_format(&(steps)->outcome->arena, __VA_ARGS__)

/* True: go on. */
static bool check_identity(struct steps *steps, struct cm_worker_check *check)
{
	struct cm_worker_outcome *outcome = steps->outcome;
	struct cm_diag diag = {0};
	int rc;

	begin(steps, CM_STEP_SOURCE);
	rc = cm_worker_check_source(steps->row, check, &outcome->identity, &outcome->arena, &diag);
	if (rc == 0) {
		begin(steps, CM_STEP_TARGET);
		rc = cm_worker_check_target(steps->row, &outcome->identity, &outcome->arena, &diag);
	}
	if (rc == 0)
		rc = cm_worker_check_again(check, &diag);
	if (rc == -ESTALE)
		end(steps, CM_COUNTER_UNAVAILABLE, "identity_mismatch", diag.text);
	else if (rc < 0)
		end(steps, CM_COUNTER_FAILED, REASON(steps, "%s", strerror(-rc)), "");
	return rc == 0;
}

static bool load(struct steps *steps)
{
	const char *path = steps->row->source.path;

	begin(steps, CM_STEP_LOAD);
	steps->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!steps->object) {
		end(steps, CM_COUNTER_FAILED, REASON(steps, "cannot be loaded: %s", dlerror()), "");
		return false;
	}
	*(void **)&steps->setup = dlsym(steps->object, "perf_setup");
	*(void **)&steps->workload = dlsym(steps->object, "perf_workload");
	*(void **)&steps->synchronize = dlsym(steps->object, "perf_synchronize");
	*(void **)&steps->cleanup = dlsym(steps->object, "perf_cleanup");
	if (!steps->workload)
		end(steps, CM_COUNTER_FAILED, REASON(steps, "%s has no perf_workload", path), "");
	return steps->workload != NULL;
}

static bool set_up(struct steps *steps)
{
	int rc;

	begin(steps, CM_STEP_SETUP);
	rc = steps->setup ? steps->setup(&steps->state) : 0;
	if (rc)
		end(steps, CM_COUNTER_FAILED, REASON(steps, "perf_setup failed with %d", rc), "");
	return rc == 0;
}

/* All of them, whatever the others say. */
static bool run_probes(struct steps *steps)
{
	const struct cm_worker_row *row = steps->row;
	/* The array is the outcome's own. */
	enum cm_worker_probe_state *states = (enum cm_worker_probe_state *)steps->outcome->probes;
	const char *blocking = NULL;

	begin(steps, CM_STEP_PROBES);
	for (size_t i = 0; i < row->n_probes; i++) {
		int (*probe)(void *state) = NULL;

		*(void **)&probe = dlsym(steps->object, row->probes[i].function);
		states[i] = probe && probe(steps->state) == 0 ? CM_PROBE_HELD : CM_PROBE_MISSED;
		if (states[i] == CM_PROBE_HELD)
			continue;
		steps->outcome->n_warnings += !row->probes[i].is_blocking;
		if (row->probes[i].is_blocking && !blocking)
			blocking = row->probes[i].function;
	}
	if (blocking)
		end(steps, CM_COUNTER_BLOCKED,
		    REASON(steps, "the blocking probe %s was missed", blocking), "");
	return blocking == NULL;
}

/* What is counted. */
static int run_workload(void *ctx)
{
	struct steps *steps = ctx;
	int rc;

	begin(steps, CM_STEP_WORKLOAD);
	rc = steps->workload(steps->state, &steps->result);
	if (rc) {
		steps->failed = "perf_workload";
	} else if (steps->synchronize) {
		begin(steps, CM_STEP_SYNCHRONIZE);
		rc = steps->synchronize(steps->state, steps->result);
		steps->failed = rc ? "perf_synchronize" : NULL;
	}
	begin(steps, CM_STEP_CLOSE);
	return rc;
}

static int run_command(void *ctx)
{
	struct steps *steps = ctx;
	int rc;

	begin(steps, CM_STEP_WORKLOAD);
	rc = cm_worker_command_run(&steps->command);
	begin(steps, CM_STEP_CLOSE);
	return rc;
}

static const char *explain_failure(struct steps *steps, int rc)
{
	if (rc != -ECANCELED)
		return REASON(steps, "%s", steps->window->error);
	if (steps->row->command)
		return REASON(steps, "%s", steps->command.diag.text);
	return REASON(steps, "%s failed with %d", steps->failed, steps->window->fn_status);
}

static bool open_window(struct steps *steps, int (*fn)(void *ctx))
{
	static const struct cm_window_options options = {.may_set_perf_pid = true};
	struct cm_worker_outcome *outcome = steps->outcome;
	int rc;

	begin(steps, CM_STEP_WINDOW);
	rc = cm_window_measure(fn, steps, &steps->row->declaration, &options, steps->window);
	outcome->window = *steps->window;
	outcome->has_window = true;
	if (rc < 0)
		end(steps, CM_COUNTER_FAILED, explain_failure(steps, rc), "");
	else if (steps->window->status == CM_COUNTER_UNAVAILABLE)
		end(steps, CM_COUNTER_UNAVAILABLE, steps->window->reason, steps->window->detail);
	else
		end(steps, CM_COUNTER_COMPLETE, "", "");
	return outcome->status == CM_COUNTER_COMPLETE;
}

/* On the actual result of the workload that was counted. */
static void ask_oracle(struct steps *steps)
{
	const struct cm_worker_row *row = steps->row;
	int (*oracle)(void *state, void *result) = NULL;
	int rc;

	if (!row->oracle)
		return;
	begin(steps, CM_STEP_ORACLE);
	*(void **)&oracle = dlsym(steps->object, row->oracle);
	if (!oracle && !row->is_oracle_required)
		return;
	if (!oracle) {
		steps->outcome->oracle = CM_ORACLE_MISSING;
		end(steps, CM_COUNTER_INVALID,
		    REASON(steps, "the required oracle %s is missing", row->oracle), "");
		return;
	}
	rc = oracle(steps->state, steps->result);
	steps->outcome->oracle = rc ? CM_ORACLE_FAILED : CM_ORACLE_PASSED;
	if (rc)
		end(steps, CM_COUNTER_INVALID,
		    REASON(steps, "the oracle %s failed with %d", row->oracle, rc), "");
}

static void drop_records(struct cm_counter_result *window)
{
	window->records = NULL;
	window->n_records = 0;
	window->has_group_time = false;
	window->group_time_seconds = 0;
	if (window->status == CM_COUNTER_COMPLETE) {
		window->status = CM_COUNTER_FAILED;
		window->reason = "perf_cleanup failed";
	}
}

static void clean_up(struct steps *steps)
{
	const char *reason = steps->outcome->reason;
	int rc;

	if (!steps->cleanup)
		return;
	begin(steps, CM_STEP_CLEANUP);
	rc = steps->cleanup(steps->state);
	if (!rc)
		return;
	drop_records(&steps->outcome->window);
	end(steps, CM_COUNTER_FAILED,
	    REASON(steps, "%s%sperf_cleanup failed with %d", reason, *reason ? "; " : "", rc),
	    steps->outcome->detail);
}

static void run_object(struct steps *steps)
{
	if (!load(steps) || !set_up(steps))
		return;
	if (run_probes(steps) && open_window(steps, run_workload))
		ask_oracle(steps);
	clean_up(steps);
}

int cm_worker_steps(const struct cm_worker_row *row, int reply_fd,
		    const struct cm_worker_streams *streams, struct cm_worker_outcome *outcome)
{
	static struct cm_counter_result window; /* its memory is for the rest of the process */
	struct steps steps = {.row = row,
			      .outcome = outcome,
			      .reply_fd = reply_fd,
			      .window = &window,
			      .command = {.argv = row->command, .streams = streams}};
	struct cm_worker_check check;
	int rc = cm_worker_outcome_init(outcome, row);

	if (rc < 0)
		return rc;
	if (!check_identity(&steps, &check))
		return 0;
	if (row->command)
		(void)open_window(&steps, run_command); /* the outcome says it */
	else
		run_object(&steps);
	return 0;
}
