/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark-alarm REAL|PROF N FILE: a timer fires 2,000 times a second; its handler calls
 * callee_factorial(3), while main calls malloc, callee_add and free until there were N signals.
 * How many calls each of the two functions has had is written to FILE: add, factorial.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tests/targets/callee.h"

static volatile sig_atomic_t n_signals, n_wrong;

static void on_alarm(int signal)
{
	(void)signal;
	n_signals++;
	if (callee_factorial(3) != 6)
		n_wrong++;
}

static long work(long n)
{
	long n_add = 0;

	while (n_signals < n) {
		char *block = malloc((size_t)(n_add % 5000 + 1));

		if (!block || callee_add(1, (int)n_add % 100) != 1 + (int)n_add % 100)
			n_wrong++;
		n_add++;
		free(block);
	}
	return n_add;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval timer = {.it_interval.tv_usec = 500, .it_value.tv_usec = 500}, none = {0};
	int is_prof = argc > 3 && !strcmp(argv[1], "PROF");
	int which = is_prof ? ITIMER_PROF : ITIMER_REAL;
	FILE *file;
	long n_add;

	if (argc < 4 || sigaction(is_prof ? SIGPROF : SIGALRM, &action, NULL) ||
	    setitimer(which, &timer, NULL))
		return 2;
	n_add = work(atol(argv[2]));
	if (setitimer(which, &none, NULL))
		return 1;
	file = fopen(argv[3], "w");
	if (!file || fprintf(file, "%ld %ld\n", n_add, 3L * n_signals) < 0 || fclose(file))
		return 1;
	printf("%d wrong\n", (int)n_wrong);
	return n_wrong != 0;
}
