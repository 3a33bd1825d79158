/* SPDX-License-Identifier: BSD-3-Clause */
/* Crashes and hangs of the HDF5 library on damaged files, turned into one line. */
#include "cli/guard.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/text.h"

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGVTALRM};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

/* Everything that the handler needs is made before. */
static char *line;
static size_t n_line_bytes;
static unsigned n_seconds_allowed;
static struct sigaction before[N_SIGNALS];
static char stack[64 << 10]; /* the crash may be a stack overflow */

static void report(int signal)
{
	(void)signal;
	/* Nothing can be done about a failure, and the status says the same. */
	if (write(STDERR_FILENO, line, n_line_bytes) < 0)
		_exit(CM_EXIT_FAILED);
	_exit(CM_EXIT_FAILED);
}

static bool make_line(const char *path)
{
	char *text = NULL;
	int n = -1;

	if (cm_text_escape(path, &text) >= 0)
		n = asprintf(&line,
			     "callmark: %s: damaged: the HDF5 library crashes or hangs on it\n",
			     text);
	free(text);
	if (n < 0) {
		line = NULL;
		return false;
	}
	n_line_bytes = (size_t)n;
	return true;
}

/* User CPU time; 0 stops the clock. */
static void set_clock(unsigned n_seconds)
{
	const struct itimerval time = {.it_value.tv_sec = n_seconds};

	(void)setitimer(ITIMER_VIRTUAL, &time, NULL); /* valid values: cannot fail */
}

void cm_guard_arm(const char *path, unsigned n_seconds)
{
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = report, .sa_flags = SA_ONSTACK};
	const char *verbose = getenv("CALLMARK_VERBOSE");
	size_t i;

	if ((verbose && *verbose) || line || !make_line(path))
		return;
	/* Without the stack, only overflows stay unhandled. */
	(void)sigaltstack(&alternate, NULL);
	sigfillset(&action.sa_mask);
	for (i = 0; i < N_SIGNALS; i++)
		(void)sigaction(signals[i], &action, &before[i]); /* valid numbers: cannot fail */
	n_seconds_allowed = n_seconds;
	set_clock(n_seconds);
}

void cm_guard_go_on(void)
{
	if (line)
		set_clock(n_seconds_allowed);
}

void cm_guard_disarm(void)
{
	size_t i;

	if (!line)
		return;
	set_clock(0);
	for (i = 0; i < N_SIGNALS; i++)
		(void)sigaction(signals[i], &before[i], NULL);
	free(line);
	line = NULL;
}
