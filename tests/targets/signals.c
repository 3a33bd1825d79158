/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals N: calls callee_add while a handler that calls callee_factorial(3) fires from a fast
 * timer, until it has run N times. Prints how many calls of each were made.
 * signals N leap: the signal is raised below callee_call and its handler leaves by siglongjmp, N
 * times; after each, one call of callee_add.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "tests/targets/callee.h"

static volatile sig_atomic_t n_handled;
static volatile sig_atomic_t may_leap;
static sigjmp_buf out;

static void on_alarm(int signal)
{
	(void)signal;
	n_handled++;
	(void)callee_factorial(3); /* only the number of calls matters */
	if (may_leap)
		siglongjmp(out, 1);
}

static void start_timer(long interval_us)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_interval.tv_usec = interval_us,
				  .it_value.tv_usec = interval_us};

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
		exit(1);
}

static void stop_timer(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		exit(1);
}

static long add_under_fire(long n)
{
	long n_add = 0;

	start_timer(100);
	while (n_handled < n) {
		n_add++;
		(void)callee_add(1, 1); /* only the number of calls matters */
	}
	stop_timer();
	return n_add;
}

static void raise_alarm(void *arg)
{
	(void)arg;
	(void)raise(SIGALRM); /* does not come back */
}

static long leap_out_of_handlers(long n)
{
	volatile long n_add = 0;
	struct sigaction action = {.sa_handler = on_alarm};

	if (sigaction(SIGALRM, &action, NULL))
		exit(1);
	may_leap = 1;
	while (n_add < n) {
		if (sigsetjmp(out, 1) == 0)
			callee_call(raise_alarm, NULL);
		n_add++;
		(void)callee_add(1, 1); /* only the number of calls matters */
	}
	return n_add;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	int leap = argc > 2 && !strcmp(argv[2], "leap");
	long n_add = leap ? leap_out_of_handlers(n) : add_under_fire(n);

	printf("add %ld factorial %ld\n", n_add, 3L * n_handled);
	return 0;
}
