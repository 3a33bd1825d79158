/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/command.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct cm_supervise supervise;
static struct cm_command_output output;

static int run(char *script, unsigned n_seconds)
{
	char *argv[] = {"sh", "-c", script, NULL};
	struct cm_command command = {
		.path = "/bin/sh", .argv = argv, .envp = environ, .n_seconds = n_seconds};

	return cm_command_run(&output, &supervise, &command);
}

static void begin(void)
{
	cm_supervise_init(&supervise);
}

static void end(void)
{
	cm_command_output_free(&output);
	cm_supervise_fini(&supervise);
}

TestSuite(command, .init = begin, .fini = end, .timeout = 20);

Test(command, both_outputs_and_the_status_come_back)
{
	cr_assert_eq(run("echo one; echo two >&2; read x || echo three; exit 5", 10), 0);
	cr_assert_str_eq(output.text, "one\ntwo\nthree\n");
	cr_assert_eq(WEXITSTATUS(output.status), 5);
}

Test(command, a_missing_program_is_an_error)
{
	char *argv[] = {"x", NULL};
	struct cm_command command = {
		.path = "/nonexistent/x", .argv = argv, .envp = environ, .n_seconds = 5};

	cr_assert_eq(cm_command_run(&output, &supervise, &command), -ENOENT);
}

Test(command, a_hang_ends_with_what_was_printed)
{
	cr_assert_eq(run("echo begun; sleep 100", 1), -ETIMEDOUT);
	cr_assert_str_eq(output.text, "begun\n");
	cr_assert_eq(WTERMSIG(output.status), SIGKILL);
}

Test(command, what_it_left_behind_is_killed)
{
	pid_t left;

	cr_assert_eq(run("sleep 100 & echo $!", 10), 0);
	left = (pid_t)atoi(output.text);
	cr_assert(left > 1);
	/* Its new parent may be slow to reap it: gone or a zombie, but not alive. */
	for (int i = 0; i < 100; i++) {
		char path[64], state = 'Z';
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)left);
		file = fopen(path, "re");
		if (!file)
			return;
		cr_assert_eq(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
		if (state == 'Z')
			return;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	cr_assert_fail("%d still runs", (int)left);
}

Test(command, a_signal_that_ends_us_ends_it_at_once)
{
	kill(getpid(), SIGTERM); /* blocked: pending */
	cr_assert_eq(run("sleep 100", 15), -EINTR);
	signal(SIGTERM, SIG_IGN); /* takes the pending one away */
}

Test(command, a_signal_that_we_ignore_does_not)
{
	signal(SIGTERM, SIG_IGN);
	kill(getpid(), SIGTERM);
	cr_assert_eq(run("exit 0", 15), 0);
}
