/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/guard.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"

/* Run in a child with its stderr in text; its wait status. */
static int run(void (*work)(void), char *text, size_t n_bytes)
{
	const struct rlimit no_core = {0, 0};
	int ends[2], status;
	ssize_t n, length = 0;
	pid_t pid;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(ends[1], STDERR_FILENO);
		work();
		_exit(42);
	}
	close(ends[1]);
	while ((n = read(ends[0], text + length, n_bytes - 1 - (size_t)length)) > 0)
		length += n;
	close(ends[0]);
	text[length] = '\0';
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void crash(void)
{
	signal(SIGSEGV, SIG_DFL); /* not a sanitizer's handler */
	cm_guard_arm("bad\x1b.h5", 10);
	raise(SIGSEGV);
}

static void hang(void)
{
	cm_guard_arm("bad.h5", 1);
	for (volatile unsigned turn = 0;; turn++)
		;
}

static void spin(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		;
}

static void go_on(void)
{
	cm_guard_arm("good.h5", 1);
	spin(0.5);
	cm_guard_go_on();
	spin(0.7);
	cm_guard_disarm();
	spin(1.2);
}

static void crash_later(void)
{
	signal(SIGABRT, SIG_DFL);
	cm_guard_arm("good.h5", 10);
	cm_guard_disarm();
	raise(SIGABRT);
}

static void crash_verbosely(void)
{
	signal(SIGABRT, SIG_DFL);
	setenv("CALLMARK_VERBOSE", "1", 1);
	cm_guard_arm("bad.h5", 10);
	raise(SIGABRT);
}

Test(guard, turns_a_crash_into_one_line_that_names_the_file)
{
	char text[256];
	int status = run(crash, text, sizeof(text));

	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == CM_EXIT_FAILED);
	cr_expect_str_eq(text, "callmark: bad\\x1b.h5: damaged: the HDF5 library crashes or hangs "
			       "on it\n");
}

Test(guard, ends_a_loop_that_has_no_end)
{
	char text[256];
	int status = run(hang, text, sizeof(text));

	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == CM_EXIT_FAILED);
	cr_expect(strstr(text, "bad.h5: damaged"));
}

Test(guard, lets_work_that_goes_on_take_its_time)
{
	char text[256];
	int status = run(go_on, text, sizeof(text));

	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	cr_expect_str_empty(text);
}

Test(guard, leaves_other_crashes_alone)
{
	char text[256];
	int status = run(crash_later, text, sizeof(text));

	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	status = run(crash_verbosely, text, sizeof(text));
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
