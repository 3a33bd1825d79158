/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/reader-guard.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/reader-log.h"

TestSuite(reader_guard, .timeout = 30);

static struct cm_reader_report *guard(cm_reader_work work, void *ctx, unsigned int seconds)
{
	struct cm_reader_report *report = NULL;

	cr_assert_eq(cm_reader_guard(work, ctx, seconds, &report), 0);
	cr_assert_not_null(report);
	cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
	cr_assert_eq(errno, ECHILD);
	return report;
}

static int succeed(void *ctx, struct cm_reader_report *report)
{
	(void)ctx;
	snprintf(report->library, sizeof(report->library), "/x");
	puts("not seen by anybody");
	return 0;
}

Test(reader_guard, hands_a_result_on_and_keeps_output_to_itself)
{
	struct cm_reader_report *report = guard(succeed, NULL, 10);

	cr_assert(report->is_done);
	cr_assert_str_eq(report->library, "/x");
	cr_assert_str_empty(report->diag.text);
}

static int refuse(void *ctx, struct cm_reader_report *report)
{
	(void)ctx;
	return cm_diag_set(&report->diag, -EINVAL, "for this reason");
}

Test(reader_guard, hands_a_reason_on)
{
	struct cm_reader_report *report = guard(refuse, NULL, 10);

	cr_assert_not(report->is_done);
	cr_assert_str_eq(report->diag.text, "for this reason");
}

static int end_by_signal(void *ctx, struct cm_reader_report *report)
{
	cm_reader_step(report, "perfmon_init");
	fprintf(stderr, "first\nERROR - [./src/x.c:f:7] second  \n\n");
	(void)signal(*(int *)ctx, SIG_DFL);
	raise(*(int *)ctx);
	return 0;
}

Test(reader_guard, tells_where_likwid_crashed_and_what_that_means)
{
	int number = SIGSEGV;
	struct cm_reader_report *report = guard(end_by_signal, &number, 10);

	cr_assert_not(report->is_done);
	cr_assert_str_eq(report->diag.text,
			 "LIKWID ended by signal 11 in perfmon_init: this CPU is "
			 "probably not supported by this LIKWID (second)");
}

Test(reader_guard, tells_a_lost_daemon_from_an_unknown_cpu)
{
	int number = SIGPIPE;
	struct cm_reader_report *report = guard(end_by_signal, &number, 10);

	cr_assert_str_eq(
		report->diag.text,
		"LIKWID ended by signal 13 in perfmon_init: its access daemon ended (second)");
}

static int call_exit(void *ctx, struct cm_reader_report *report)
{
	cm_reader_step(report, "topology_init");
	printf("%s\n", (const char *)ctx);
	fflush(stdout); /* which exit() would do; but LeakSanitizer comes to its end then, too */
	_exit(1);
}

Test(reader_guard, tells_why_likwid_called_exit)
{
	struct cm_reader_report *report = guard(call_exit, "WARN: something is wrong", 10);

	cr_assert_str_eq(report->diag.text,
			 "LIKWID ended with status 1 in topology_init: something is wrong");
	report = guard(call_exit, "ERROR - [x] Failed to find the daemon 'y'", 10);
	cr_assert(strstr(report->diag.text, "likwid-accessD, is missing"), "%s", report->diag.text);
}

static int crash_late(void *ctx, struct cm_reader_report *report)
{
	(void)ctx;
	report->is_done = true;
	(void)signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	return -1;
}

Test(reader_guard, does_not_mind_a_crash_after_the_result)
{
	struct cm_reader_report *report = guard(crash_late, NULL, 10);

	cr_assert(report->is_done);
	cr_assert_str_empty(report->diag.text);
}

/* A grandchild that outlives its parent, as a daemon that does not notice would. */
static pid_t start_daemon(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	return pid;
}

static int hang(void *ctx, struct cm_reader_report *report)
{
	*(pid_t *)ctx = start_daemon();
	cm_reader_step(report, "numa_init");
	return pause(); /* for longer than it is given */
}

static int leave_daemon(void *ctx, struct cm_reader_report *report)
{
	(void)report;
	*(pid_t *)ctx = start_daemon();
	return 0;
}

static pid_t *make_shared(void)
{
	pid_t *pid =
		mmap(NULL, sizeof(*pid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(pid, MAP_FAILED);
	return pid;
}

Test(reader_guard, ends_what_hangs_and_what_it_started)
{
	pid_t *pid = make_shared();
	struct cm_reader_report *report = guard(hang, pid, 1);

	cr_assert_not(report->is_done);
	cr_assert_str_eq(report->diag.text, "LIKWID did not answer within 1 s in numa_init");
	cr_assert_gt(*pid, 0);
	cr_assert_eq(kill(*pid, 0), -1);
	cr_assert_eq(errno, ESRCH);
}

Test(reader_guard, ends_a_daemon_that_stays)
{
	pid_t *pid = make_shared();
	struct cm_reader_report *report = guard(leave_daemon, pid, 10);

	cr_assert(report->is_done);
	cr_assert_gt(*pid, 0);
	cr_assert_eq(kill(*pid, 0), -1);
	cr_assert_eq(errno, ESRCH);
}

Test(reader_guard, log_gives_lines_that_can_be_shown)
{
	int fd = cm_reader_log_open();
	char line[32];
	off_t middle;

	cr_assert_geq(fd, 0);
	cm_reader_log_last(fd, 0, line, sizeof(line));
	cr_assert_str_empty(line);
	cr_assert_gt(dprintf(fd, "WARN: Counter PMC0 is only available with deactivated "
				 "HyperThreading\n"),
		     0);
	middle = cm_reader_log_position(fd);
	cm_reader_log_warning(fd, 0, line, sizeof(line));
	cr_assert_str_eq(line, "Counter PMC0 is only available "); /* cut to the room there is */
	cm_reader_log_warning(fd, middle, line, sizeof(line));
	cr_assert_str_empty(line);
	cr_assert_gt(dprintf(fd, "a\033[31mb\r\n   \n"), 0);
	cm_reader_log_last(fd, 0, line, sizeof(line));
	cr_assert_str_eq(line, "a?[31mb");
	for (int i = 0; i < 100000; i++)
		cr_assert_gt(dprintf(fd, "x\n"), 0);
	cr_assert_gt(dprintf(fd, "end"), 0);
	cm_reader_log_last(fd, 0, line, sizeof(line));
	cr_assert_str_eq(line, "end");
	close(fd);
}
