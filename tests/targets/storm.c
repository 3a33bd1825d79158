/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * storm signals N CALLS: a timer fires 500 us after the last time, N times, while the main loop
 * calls callee_errno; its handler makes CALLS calls of callee_add. Prints both numbers of calls.
 * storm leaps N CALLS: the same, and every second handler leaves by siglongjmp.
 * storm alternate N CALLS, storm alternate-leaps N CALLS: on an alternate signal stack.
 * storm threads N CALLS: N threads, one after the other, each making CALLS calls under the timer.
 * With a last argument "below" all of it happens inside callee_call.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static volatile int n_handled;
static volatile sig_atomic_t may_leap, wants_leaps;
static volatile long n_adds, n_errnos;
static long n_wanted, n_each;
static sigjmp_buf out;

/* Once: on a busy machine a handler may last longer than that, and the program must go on. */
static void start_timer(void)
{
	const struct itimerval timer = {.it_value.tv_usec = 500};

	if (setitimer(ITIMER_REAL, &timer, NULL))
		_exit(1);
}

static void on_alarm(int signal)
{
	int saved = errno;

	(void)signal;
	for (long i = 0; i < n_each; i++)
		(void)callee_add(1, 1); /* only the number of calls matters */
	__atomic_fetch_add(&n_adds, n_each, __ATOMIC_RELAXED);
	__atomic_fetch_add(&n_handled, 1, __ATOMIC_RELAXED);
	start_timer();
	errno = saved;
	if (may_leap && n_handled % 2)
		siglongjmp(out, 1);
}

static void start(int flags)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags | SA_RESTART};

	if (sigaction(SIGALRM, &action, NULL))
		exit(1);
	start_timer();
}

static void stop_timer(void)
{
	const struct itimerval none = {.it_value.tv_usec = 0};

	if (signal(SIGALRM, SIG_IGN) == SIG_ERR || setitimer(ITIMER_REAL, &none, NULL))
		exit(1);
}

static void unblock(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigprocmask(SIG_UNBLOCK, &set, NULL))
		exit(1);
}

static void work(void *arg)
{
	volatile long n = n_wanted;

	(void)arg;
	/* Every leap goes on below. The next signal may only come once the handler's stack is left.
	 */
	if (!sigsetjmp(out, 0))
		may_leap = wants_leaps;
	else
		unblock();
	while (n_handled < n) {
		n_errnos++;
		(void)callee_errno(0); /* only the number of calls matters */
	}
}

static void *add_some(void *arg)
{
	for (long i = 0; i < n_each; i++)
		(void)callee_errno(0); /* only the number of calls matters */
	return arg;
}

static void run_threads(void *arg)
{
	pthread_t thread;

	for (long i = 0; i < n_wanted; i++) {
		if (pthread_create(&thread, NULL, add_some, arg) || pthread_join(thread, NULL))
			exit(1);
		n_errnos += n_each;
	}
}

static void set_alternate(void)
{
	static char memory[64 << 10];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	if (sigaltstack(&stack, NULL))
		exit(1);
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[1] : "";
	int in_threads = !strcmp(how, "threads");
	int is_alternate = !strncmp(how, "alternate", 9);

	if (argc < 4)
		return 2;
	n_wanted = atol(argv[2]);
	n_each = atol(argv[3]);
	wants_leaps = strstr(how, "leaps") != NULL;
	if (is_alternate)
		set_alternate();
	start(is_alternate ? SA_ONSTACK : 0);
	if (argc > 4)
		callee_call(in_threads ? run_threads : work, NULL);
	else if (in_threads)
		run_threads(NULL);
	else
		work(NULL);
	may_leap = 0;
	stop_timer();
	printf("adds %ld errnos %ld signals %d\n", n_adds, n_errnos, (int)n_handled);
	return 0;
}
