/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. What the child finds out stands in memory that both have. */
#include "collector/measure-trial.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/reader-log.h"

#define WAIT_MS 5

struct trial {
	struct cm_native native;
	struct cm_refusal refusal;
	bool is_done; /* the child has looked at all: the refusal, or none */
	int log_fd;
};

static pid_t guarded_pid; /* 0: no window is open */

static void end_probe(int status, void *unused)
{
	(void)unused;
	if (guarded_pid && getpid() != guarded_pid)
		_exit(status);
}

void cm_measure_guard_exit(void)
{
	guarded_pid = getpid();
	/* Once more each time: the handler that was registered last runs first. */
	(void)on_exit(end_probe, NULL); /* without it, probes behave as LIKWID has made them */
}

void cm_measure_unguard_exit(void)
{
	guarded_pid = 0;
}

static long now_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* valid arguments */
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* The caller's handlers are not for this; a dead child leaves no core file. */
static void reset_signals(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS,	SIGILL,	 SIGFPE,  SIGABRT,
				      SIGPIPE, SIGTERM, SIGALRM, SIGCHLD, SIGSYS};
	static const struct rlimit none;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		(void)signal(signals[i], SIG_DFL); /* valid numbers */
	(void)setrlimit(RLIMIT_CORE, &none);	   /* then there is one */
}

/* Does not return. */
static void run_child(struct trial *trial, const struct cm_measure_plan *plan, pid_t parent)
{
	(void)setpgid(0, 0); /* fresh, no session leader */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(trial->log_fd, STDOUT_FILENO) < 0 ||
	    dup2(trial->log_fd, STDERR_FILENO) < 0)
		_exit(1);
	reset_signals();
	if (cm_native_configure(&trial->native, &trial->refusal) == 0)
		(void)cm_native_open(&trial->native, plan,
				     &trial->refusal); /* the refusal says it */
	trial->is_done = true;
	_exit(0);
}

/* False: the time is over. */
static bool wait_child(pid_t child, unsigned int seconds, int *ret_status)
{
	long end_ms = now_ms() + seconds * 1000L;

	for (;;) {
		pid_t got = waitpid(child, ret_status, WNOHANG);

		if (got == child)
			return true;
		if (got < 0 && errno != EINTR) {
			*ret_status = 0; /* somebody else has waited for it */
			return true;
		}
		if (now_ms() >= end_ms)
			return false;
		(void)poll(NULL, 0, WAIT_MS);
	}
}

static void explain(struct trial *trial, bool is_ended, int status, unsigned int seconds)
{
	struct cm_diag *diag = &trial->refusal.diag;
	const char *step = trial->native.step;
	char line[256];

	trial->refusal.reason = CM_REFUSED_INITIALIZATION;
	*diag = (struct cm_diag){0};
	cm_reader_log_last(trial->log_fd, 0, line, sizeof(line));
	if (!is_ended)
		cm_diag_set(diag, 0, "LIKWID did not come back from %s within %u s", step, seconds);
	else if (WIFSIGNALED(status))
		cm_diag_set(diag, 0, "LIKWID ended by signal %d in %s%s%s", WTERMSIG(status), step,
			    *line ? ": " : "", line);
	else
		cm_diag_set(diag, 0, "LIKWID ended with status %d in %s%s%s", WEXITSTATUS(status),
			    step, *line ? ": " : "", line);
}

/* A refusal in LIKWID's own words, where it had some. */
static void add_words(struct trial *trial)
{
	char line[256];
	size_t n = strlen(trial->refusal.diag.text);

	cm_reader_log_last(trial->log_fd, 0, line, sizeof(line));
	if (*line && n + strlen(line) + 3 < sizeof(trial->refusal.diag.text)) {
		memcpy(trial->refusal.diag.text + n, ": ", 2);
		strcpy(trial->refusal.diag.text + n + 2, line);
	}
}

static int try_it(struct trial *trial, const struct cm_measure_plan *plan, unsigned int seconds)
{
	pid_t parent = getpid(), child = fork();
	int status = 0;
	bool is_ended;

	if (child < 0)
		return -errno;
	if (child == 0)
		run_child(trial, plan, parent);
	is_ended = wait_child(child, seconds, &status);
	if (!is_ended || !trial->is_done)
		(void)kill(-child, SIGKILL); /* its daemons, where it has come that far */
	if (!is_ended) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0); /* it is dead */
	}
	if (!trial->is_done)
		explain(trial, is_ended, status, seconds);
	else if (trial->refusal.reason != CM_REFUSED_NOT)
		add_words(trial);
	return 0;
}

int cm_measure_trial(const struct cm_native *native, const struct cm_measure_plan *plan,
		     unsigned int seconds, struct cm_refusal *refusal)
{
	struct trial *trial = mmap(NULL, sizeof(*trial), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc = 0;

	if (trial == MAP_FAILED)
		return -ENOMEM;
	trial->native = *native;
	trial->log_fd = cm_reader_log_open();
	rc = trial->log_fd < 0 ? trial->log_fd : try_it(trial, plan, seconds);
	if (trial->log_fd >= 0)
		close(trial->log_fd);
	if (rc == 0 && trial->refusal.reason != CM_REFUSED_NOT) {
		*refusal = trial->refusal;
		rc = -ENODEV;
	}
	(void)munmap(trial, sizeof(*trial)); /* ours */
	return rc;
}
