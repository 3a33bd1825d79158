/* SPDX-License-Identifier: BSD-3-Clause */
/* The child, its end, and what became of its daemons. */
#include "collector/reader-guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/reader-log.h"

#define FIRST_WAIT_MS 1
#define WAIT_MS 5
#define DAEMON_MS 500 /* a daemon ends when its socket closes: at once */

void cm_reader_step(struct cm_reader_report *report, const char *step)
{
	snprintf(report->step, sizeof(report->step), "%s", step);
}

static long now_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* valid arguments */
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Does not return. Our own group, so that the parent can end all that LIKWID starts. */
static void run_child(cm_reader_work work, void *ctx, struct cm_reader_report *report, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setpgid(0, 0); /* it is fresh and no session leader */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (dup2(report->log_fd, STDOUT_FILENO) < 0 || dup2(report->log_fd, STDERR_FILENO) < 0)
		_exit(1);
	if (work(ctx, report) == 0)
		report->is_done = true;
	/* Not exit(): no finalisation, which would write to counters that others may use. */
	_exit(report->is_done ? 0 : 1);
}

/* 1: ended, status in *ret_status; 0: the time is over. */
static int wait_child(pid_t child, unsigned int seconds, int *ret_status)
{
	long end_ms = seconds ? now_ms() + seconds * 1000L : LONG_MAX;
	int wait_ms = FIRST_WAIT_MS;

	for (;;) {
		pid_t got = waitpid(child, ret_status, seconds ? WNOHANG : 0);

		if (got == child)
			return 1;
		if (got < 0 && errno != EINTR) {
			*ret_status = 0; /* somebody ignores SIGCHLD for us: the report decides */
			return 1;
		}
		if (now_ms() >= end_ms)
			return 0;
		(void)poll(NULL, 0, wait_ms);
		wait_ms = WAIT_MS;
	}
}

/* Everything below us, which is ours to wait for. */
static void end_descendants(pid_t group)
{
	long end_ms = now_ms() + DAEMON_MS;
	pid_t got;

	while ((got = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR) {
		if (got > 0)
			continue;
		if (now_ms() >= end_ms) {
			if (!group)
				return;
			(void)kill(-group, SIGKILL); /* gone meanwhile: good */
			group = 0;
			end_ms = now_ms() + DAEMON_MS;
		}
		(void)poll(NULL, 0, 1);
	}
}

/* In LIKWID's own words: it could not start its daemon. */
static bool has_no_daemon(int log_fd)
{
	static const char *const signs[] = {"Failed to find the daemon",
					    "Unable to get path to access daemon",
					    "likwid-accessD just failed to start"};

	char line[256];

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		if (cm_reader_log_find(log_fd, 0, signs[i], line, sizeof(line)))
			return true;
	}
	return false;
}

static void explain_signal(struct cm_reader_report *report, int signal, const char *line)
{
	const char *guess = "";

	if (signal == SIGPIPE)
		guess = ": its access daemon ended";
	else if (!strcmp(report->step, "perfmon_init"))
		guess = ": this CPU is probably not supported by this LIKWID";
	cm_diag_set(&report->diag, -EIO, "LIKWID ended by signal %d in %s%s%s%s%s", signal,
		    report->step, guess, *line ? " (" : "", line, *line ? ")" : "");
}

/* The line for a child that did not come back from LIKWID. */
static void explain(struct cm_reader_report *report, int status, unsigned int seconds)
{
	char line[256];

	if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
		cm_diag_set(&report->diag, -ETIMEDOUT, "LIKWID did not answer within %u s in %s",
			    seconds, report->step);
		return;
	}
	if (WIFEXITED(status) && has_no_daemon(report->log_fd)) {
		cm_diag_set(&report->diag, -EACCES,
			    "LIKWID's access daemon, likwid-accessD, is missing, not executable or "
			    "does not start: see callmark doctor");
		return;
	}
	cm_reader_log_last(report->log_fd, 0, line, sizeof(line));
	if (WIFSIGNALED(status))
		explain_signal(report, WTERMSIG(status), line);
	else
		cm_diag_set(&report->diag, -EIO, "LIKWID ended with status %d in %s%s%s",
			    WEXITSTATUS(status), report->step, *line ? ": " : "", line);
}

int cm_reader_guard(cm_reader_work work, void *ctx, unsigned int seconds,
		    struct cm_reader_report **ret_report)
{
	struct cm_reader_report *report;
	pid_t parent = getpid(), child;
	int status = 0;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		return -ENOMEM;
	cm_reader_step(report, "fork");
	report->log_fd = cm_reader_log_open();
	if (report->log_fd < 0)
		return report->log_fd;
	/* Orphaned daemons become our children: we can tell when they are gone. */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		run_child(work, ctx, report, parent);
	if (!wait_child(child, seconds, &status)) {
		(void)kill(-child, SIGKILL); /* its group, where it has come that far */
		(void)kill(child, SIGKILL);
		status = 0x7f; /* neither exited nor signalled */
	}
	end_descendants(child);
	report->library[sizeof(report->library) - 1] = '\0';
	report->step[sizeof(report->step) - 1] = '\0';
	report->diag.text[sizeof(report->diag.text) - 1] = '\0';
	if (!report->is_done && !report->diag.text[0])
		explain(report, status, seconds);
	*ret_report = report;
	return 0;
}
