/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/liveness.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

static uint64_t now_ns(void)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

Test(liveness, reads_the_names_of_spools)
{
	uint64_t pid, start_ns;

	cr_assert(cm_liveness_parse("4242-1f", &pid, &start_ns));
	cr_assert_eq(pid, 4242);
	cr_assert_eq(start_ns, 0x1f);
	cr_assert(cm_liveness_parse("1-ffffffffffffffff", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("matched", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("12", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("12-", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("-12", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("12-1f.tmp", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("12-1F", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("99999999999-1", &pid, &start_ns));
	cr_assert_not(cm_liveness_parse("12-11112222333344445", &pid, &start_ns));
}

Test(liveness, knows_a_living_process_by_its_start)
{
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	cr_assert_gt(child, 0);
	/* Recorded just now by that process, and long after its start. */
	cr_assert(cm_liveness_is_alive((uint64_t)child, now_ns()));
	cr_assert(cm_liveness_is_alive((uint64_t)child, now_ns() + 1000 * SECOND_NS));
	/* Recorded before it started: an earlier one had this pid. */
	cr_assert_not(cm_liveness_is_alive((uint64_t)child, now_ns() - 5 * SECOND_NS));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	cr_assert_not(cm_liveness_is_alive((uint64_t)child, now_ns()));
}

Test(liveness, takes_a_zombie_for_dead)
{
	siginfo_t info;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	cr_assert_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	cr_assert_not(cm_liveness_is_alive((uint64_t)child, now_ns()));
	waitpid(child, NULL, 0);
}
