/* SPDX-License-Identifier: BSD-3-Clause */
/* One window, from the declaration to the result; callmark/measure.h says what is promised. */
#include "collector/measure-window.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collector/measure-caller.h"
#include "collector/measure-native.h"
#include "collector/measure-result.h"
#include "collector/measure-trial.h"

struct window {
	int (*fn)(void *ctx);
	void *ctx;
	const struct cm_window_options *options;
	struct cm_measure_plan plan;
	struct cm_native *native;
	struct cm_refusal refusal;
	struct cm_counter_result *result;
	struct cm_caller caller; /* as it was before any native call */
	struct cm_diag diag;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_native the_native; /* guarded by the lock */

static int refuse(struct window *window, enum cm_refusal_reason reason)
{
	window->refusal.reason = reason;
	return -ENODEV;
}

static int check_platform(struct window *window)
{
	static const char *const machines[] = {"x86_64", "aarch64", "ppc64le"};
	struct utsname name;

	if (uname(&name) == 0 && !strcmp(name.sysname, "Linux")) {
		for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
			if (!strcmp(name.machine, machines[i]))
				return 0;
		}
		cm_diag_set(&window->refusal.diag, 0, "LIKWID does not count on %s", name.machine);
	}
	return refuse(window, CM_REFUSED_PLATFORM);
}

/* Whose events would be counted must be clear: nobody's, or this process's. */
static int check_perf_pid(struct window *window)
{
	const char *value = getenv("LIKWID_PERF_PID");
	char own[24];

	if (!value)
		return 0;
	snprintf(own, sizeof(own), "%ld", (long)getpid());
	if (strcmp(value, own) != 0) {
		cm_diag_set(&window->refusal.diag, 0,
			    "LIKWID_PERF_PID is \"%s\", this process is %s", value, own);
		return refuse(window, CM_REFUSED_PERF_PID);
	}
	window->result->has_perf_pid = true;
	window->result->perf_pid = getpid();
	return 0;
}

/* Without it, LIKWID would take CPUs from outside of the affinity, and change it. */
static int check_cpuset(struct window *window)
{
	if (!getenv("LIKWID_IGNORE_CPUSET"))
		return 0;
	cm_diag_set(&window->refusal.diag, 0,
		    "LIKWID_IGNORE_CPUSET is set: LIKWID would change the affinity");
	return refuse(window, CM_REFUSED_INITIALIZATION);
}

static int record_perf_pid(struct window *window)
{
	char own[24];

	if (!window->options->may_set_perf_pid || window->result->has_perf_pid ||
	    window->native->access_mode != CM_ACCESS_PERF)
		return 0;
	snprintf(own, sizeof(own), "%ld", (long)getpid());
	if (setenv("LIKWID_PERF_PID", own, 1) < 0)
		return -ENOMEM;
	window->caller.kept = "LIKWID_PERF_PID";
	window->result->has_perf_pid = true;
	window->result->perf_pid = getpid();
	return 0;
}

/* Started counters, the function, stopped counters. */
static int run_function(struct window *window)
{
	struct cm_counter_result *result = window->result;
	int rc;

	result->was_called = true;
	result->fn_status = window->fn(window->ctx);
	if (result->fn_status)
		cm_diag_set(&window->diag, 0, "the function failed with %d", result->fn_status);
	rc = cm_native_stop(window->native, &window->diag);
	return result->fn_status ? -ECANCELED : rc;
}

static int count(struct window *window)
{
	const struct cm_measure_plan *plan = &window->plan;
	double *values = calloc(plan->n_events * plan->n_cpus, sizeof(*values));
	double seconds;
	int rc = values ? 0 : -ENOMEM;

	if (rc == 0)
		rc = cm_native_start(window->native, plan, &window->refusal);
	if (rc == 0)
		rc = run_function(window);
	if (rc == 0)
		rc = cm_native_read(window->native, plan, values, &seconds, &window->diag);
	if (rc == 0)
		rc = cm_measure_result_fill(window->result, plan, values, seconds);
	free(values);
	return rc;
}

/* The real thing, after a trial that went well. */
static int attempt(struct window *window)
{
	struct cm_native *native = window->native;
	int rc = cm_native_configure(native, &window->refusal), close_rc, restore_rc;

	if (rc == 0) {
		window->result->access_mode = native->access_mode;
		rc = record_perf_pid(window);
	}
	if (rc == 0)
		rc = cm_native_open(native, &window->plan, &window->refusal);
	if (rc == 0)
		rc = cm_measure_result_note(window->result, native, &window->plan);
	/* Before the function: it must find what it would find without us. */
	if (rc == 0)
		rc = cm_caller_restore(&window->caller, &window->diag);
	if (rc == 0)
		rc = count(window);
	(void)cm_native_stop(native, NULL); /* where a start was refused half-way */
	close_rc = cm_native_close(native, &window->diag);
	restore_rc = cm_caller_restore(&window->caller, &window->diag);
	if (rc == 0)
		rc = close_rc;
	return rc < 0 ? rc : restore_rc;
}

static int open_library(struct window *window)
{
	int rc = cm_native_load(window->native, &window->refusal);

	if (rc < 0)
		return rc;
	rc = cm_measure_result_set_library(window->result, window->native->likwid.path);
	if (rc == 0)
		rc = cm_native_find_owner(window->native, &window->refusal);
	if (rc == 0)
		rc = check_cpuset(window);
	return rc;
}

static int measure_locked(struct window *window)
{
	int rc;

	window->native = &the_native;
	memset(window->native, 0, sizeof(*window->native));
	rc = open_library(window);
	if (rc < 0)
		return rc;
	/* What is buffered must not be written once more by a child that exits. */
	(void)fflush(NULL); /* whoever writes next to a broken stream is told */
	rc = cm_caller_save(&window->caller);
	cm_measure_guard_exit();
	if (rc == 0)
		rc = cm_measure_trial(window->native, &window->plan, CM_TRIAL_SECONDS,
				      &window->refusal);
	if (rc == 0)
		rc = attempt(window);
	cm_measure_unguard_exit();
	cm_caller_fini(&window->caller);
	return rc;
}

static int measure(struct window *window)
{
	int rc = check_platform(window);

	if (rc == 0)
		rc = check_perf_pid(window);
	if (rc < 0)
		return rc;
	/* Also a window within a window: this thread would wait for itself. */
	if (pthread_mutex_trylock(&lock) != 0) {
		cm_diag_set(&window->refusal.diag, 0, "another window of this process is open");
		return refuse(window, CM_REFUSED_OWNED);
	}
	rc = measure_locked(window);
	(void)pthread_mutex_unlock(&lock); /* ours */
	return rc;
}

int cm_window_measure(int (*fn)(void *ctx), void *ctx, const struct cm_declaration *declaration,
		      const struct cm_window_options *options, struct cm_counter_result *result)
{
	struct window window = {.fn = fn, .ctx = ctx, .options = options, .result = result};
	int rc = cm_measure_result_init(result);

	if (rc == 0)
		rc = cm_measure_plan_make(&window.plan, declaration,
					  cm_measure_result_arena(result), &window.diag);
	if (rc == 0)
		rc = cm_measure_result_plan(result, &window.plan);
	if (rc == 0)
		rc = measure(&window);
	if (rc == -ENODEV && window.refusal.reason != CM_REFUSED_NOT)
		return cm_measure_result_refuse(result, &window.refusal);
	return cm_measure_result_end(result, rc, &window.diag);
}
