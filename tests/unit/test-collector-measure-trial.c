/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial whose LIKWID does what the test wants; and what is put back in the caller. */
#include "collector/measure-trial.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/measure-caller.h"

static const int cpus[] = {0};
static const struct cm_measure_event events[] = {{"A", "PMC0", "1"}};
static const struct cm_measure_plan plan = {
	.event_set = "A:PMC0", .events = events, .n_events = 1, .cpus = cpus, .n_cpus = 1};

static int wait_forever(void)
{
	for (;;)
		pause();
	return 0;
}

static int leave(void)
{
	_exit(5);
}

static int crash(void)
{
	fprintf(stderr, "ERROR - [./src/x.c:f:1] something is wrong\n");
	return raise(SIGBUS);
}

static const struct cm_likwid_configuration *get_nothing(void)
{
	return NULL;
}

static struct cm_native make(int (*init)(void))
{
	struct cm_native native = {
		.likwid = {.init_configuration = init, .get_configuration = get_nothing}};

	return native;
}

static double elapsed_s(struct timespec from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - from.tv_sec) + (double)(now.tv_nsec - from.tv_nsec) / 1e9;
}

Test(measure_trial, ends_a_likwid_that_hangs, .timeout = 30)
{
	struct cm_native native = make(wait_forever);
	struct cm_refusal refusal = {0};
	struct timespec from;

	clock_gettime(CLOCK_MONOTONIC, &from);
	cr_assert_eq(cm_measure_trial(&native, &plan, 1, &refusal), -ENODEV);
	cr_assert_eq(refusal.reason, CM_REFUSED_INITIALIZATION);
	cr_assert_str_eq(refusal.diag.text,
			 "LIKWID did not come back from init_configuration within 1 s");
	cr_assert_geq(elapsed_s(from), 1);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
}

Test(measure_trial, says_where_likwid_ended)
{
	struct cm_native native = make(leave);
	struct cm_refusal refusal = {0};

	cr_assert_eq(cm_measure_trial(&native, &plan, 20, &refusal), -ENODEV);
	cr_assert_str_eq(refusal.diag.text, "LIKWID ended with status 5 in init_configuration");
	native = make(crash);
	cr_assert_eq(cm_measure_trial(&native, &plan, 20, &refusal), -ENODEV);
	cr_assert_eq(refusal.reason, CM_REFUSED_INITIALIZATION);
	cr_assert_str_eq(refusal.diag.text, "LIKWID ended by signal 7 in init_configuration: "
					    "something is wrong");
}

static int succeed(void)
{
	return 0;
}

/* The caller's program may ignore SIGCHLD: the kernel reaps for it. */
Test(measure_trial, works_where_children_are_not_waited_for)
{
	struct cm_native native = make(succeed);
	struct cm_refusal refusal = {0};

	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(cm_measure_trial(&native, &plan, 20, &refusal), -ENODEV);
	cr_assert_eq(refusal.reason, CM_REFUSED_ACCESS_MODE);
	native = make(leave);
	cr_assert_eq(cm_measure_trial(&native, &plan, 20, &refusal), -ENODEV);
	cr_assert_eq(refusal.reason, CM_REFUSED_INITIALIZATION);
}

static void on_child(int sig)
{
	(void)sig;
}

Test(measure_caller, puts_back_what_was_changed)
{
	struct cm_caller caller;
	struct cm_affinity now;
	struct sigaction action;
	cpu_set_t one;

	setenv("CM_TEST_KEPT", "old", 1);
	setenv("CM_TEST_GONE", "there", 1);
	unsetenv("CM_TEST_NEW");
	signal(SIGCHLD, SIG_IGN);
	cr_assert_eq(cm_caller_save(&caller), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	signal(SIGCHLD, on_child);
	setenv("CM_TEST_KEPT", "changed", 1);
	setenv("CM_TEST_NEW", "1", 1);
	setenv("CM_TEST_NEW_TOO", "", 1);
	unsetenv("CM_TEST_GONE");
	cr_assert_eq(cm_caller_restore(&caller, NULL), 0);
	cr_assert_str_eq(getenv("CM_TEST_KEPT"), "old");
	cr_assert_str_eq(getenv("CM_TEST_GONE"), "there");
	cr_assert_null(getenv("CM_TEST_NEW"));
	cr_assert_null(getenv("CM_TEST_NEW_TOO"));
	cr_assert_eq(sigaction(SIGCHLD, NULL, &action), 0);
	cr_assert_eq(action.sa_handler, SIG_IGN);
	cr_assert_eq(cm_affinity_get(&now), 0);
	cr_assert_eq(cm_affinity_count(&now), cm_affinity_count(&caller.affinity));
	cm_affinity_fini(&now);
	caller.kept = "CM_TEST_NEW";
	setenv("CM_TEST_NEW", "1", 1);
	cr_assert_eq(cm_caller_restore(&caller, NULL), 0);
	cr_assert_str_eq(getenv("CM_TEST_NEW"), "1");
	cm_caller_fini(&caller);
}
