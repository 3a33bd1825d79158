/* SPDX-License-Identifier: BSD-3-Clause */
/* The ladder's first two rungs, with readers that are shell scripts. */
#include "collector/counters.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "preload/environment.h"
#include "tests/unit/counters-fixture.h"

TestSuite(counters, .init = counters_setup, .fini = counters_teardown, .timeout = 30);

Test(counters, come_from_a_reader_that_ends_well)
{
	counters_add_closed();
	counters_set_script("test \"$1 $3 $4\" = '--read --library /lib/liblikwid.so.5'; make");
	counters_collect();
	counters_expect_full();
}

Test(counters, come_from_a_reader_that_crashes_after_its_result)
{
	counters_add_closed();
	counters_set_script("make; kill -SEGV $$");
	counters_collect();
	counters_expect_full();
}

Test(counters, come_from_a_reader_that_fails_after_its_result)
{
	counters_add_closed();
	counters_set_script("make; echo no >&2; exit 3");
	counters_collect();
	counters_expect_full();
}

Test(counters, come_from_a_reader_that_hangs_after_its_result)
{
	counters_add_closed();
	counters_set_script("make; exec sleep 1000");
	cr_assert_eq(setenv(CM_ENV_READER_TIMEOUT, "1", 1), 0);
	counters_collect();
	counters_expect_full();
}

Test(counters, come_from_the_marker_file_when_the_reader_crashes)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script("echo in perfmon_init >&2; kill -SEGV $$");
	counters_collect();
	counters_expect_file("callmark-reader ended by signal 11: in perfmon_init");
}

Test(counters, come_from_the_marker_file_when_the_reader_fails_with_a_reason)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script("echo first >&2; echo garbage; echo 'the reason' >&2; exit 1");
	counters_collect();
	counters_expect_file("the reason");
}

Test(counters, come_from_the_marker_file_when_the_reader_says_nothing)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script("exit 0");
	counters_collect();
	counters_expect_file("ended with status 0 and without a result");
}

Test(counters, come_from_the_marker_file_when_there_is_no_reader)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_collect();
	counters_expect_file("cannot be started: No such file or directory");
}

Test(counters, come_from_the_marker_file_when_the_result_is_half)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script(
		"make; head -c 200 \"$result\" >\"$result.x\"; mv \"$result.x\" \"$result\"");
	counters_collect();
	counters_expect_file("counters.json line");
}

Test(counters, come_from_the_marker_file_when_the_result_was_never_renamed)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script("make; mv \"$result\" \"$result.tmp\"; kill -KILL $$");
	counters_collect();
	counters_expect_file("ended by signal 9");
}

static bool is_alive(const char *pid_file)
{
	char text[32] = "";
	int fd = open(pid_file, O_RDONLY | O_CLOEXEC), n;

	cr_assert_geq(fd, 0);
	n = (int)read(fd, text, sizeof(text) - 1);
	close(fd);
	cr_assert_gt(n, 0);
	return kill(atoi(text), 0) == 0;
}

Test(counters, come_from_the_marker_file_when_the_reader_hangs_and_its_children_are_killed_too)
{
	char script[256], pid_file[96];
	struct timespec before, after;

	snprintf(pid_file, sizeof(pid_file), "%s/pid", counters_dir);
	snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; wait", pid_file);
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script(script);
	cr_assert_eq(setenv(CM_ENV_READER_TIMEOUT, "1", 1), 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	counters_collect();
	clock_gettime(CLOCK_MONOTONIC, &after);
	counters_expect_file("callmark-reader did not end within 1 s");
	cr_assert_leq(after.tv_sec - before.tv_sec, 10);
	for (int i = 0; i < 200 && is_alive(pid_file); i++) /* init must reap it first */
		usleep(10000);
	cr_assert_not(is_alive(pid_file));
}

Test(counters, of_a_reader_that_floods_stderr_do_not_block)
{
	counters_add_closed();
	counters_set_marker_file();
	counters_set_script(
		"yes | head -c 3000000 >&2; echo >&2; printf 'last\\001word' >&2; exit 1");
	counters_collect();
	counters_expect_file("last?word");
}
