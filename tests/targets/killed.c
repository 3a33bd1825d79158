/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * killed FILE MICROSECONDS [signals]: three threads call callee_add and callee_call until a timer
 * kills the process; with signals, a handler in the first one makes calls as well. FILE is a shared
 * mapping that outlives it: for each of four callers and both functions the calls begun and done,
 * 64-bit numbers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define N_THREADS 3
enum {
	ADD,
	CALL,
	N_FUNCTIONS,
};

struct count {
	volatile uint64_t begun, done;
};

static struct count (*counts)[N_FUNCTIONS]; /* [N_THREADS + 1], the last one is the handler's */

static void add(void *arg)
{
	struct count *count = arg;

	count[ADD].begun++;
	(void)callee_add(1, 1); /* only the number of calls matters */
	count[ADD].done++;
}

static void call(struct count *count)
{
	count[CALL].begun++;
	callee_call(add, count);
	count[CALL].done++;
}

static void on_alarm(int signal)
{
	(void)signal;
	for (int i = 0; i < 100; i++)
		call(counts[N_THREADS]);
}

static void *work(void *arg)
{
	for (long i = 0;; i++) {
		if (i % 16)
			add(arg);
		else
			call(arg);
	}
	return NULL;
}

static int map_counts(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, 4096))
		return -1;
	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return counts == MAP_FAILED ? -1 : close(fd);
}

static int start_timers(long us, int with_signals)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec end = {.it_value = {us / 1000000, us % 1000000 * 1000 + 1}};
	struct itimerval alarms = {.it_interval.tv_usec = 200, .it_value.tv_usec = 200};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &end, NULL))
		return -1;
	if (!with_signals)
		return 0;
	return signal(SIGALRM, on_alarm) == SIG_ERR ? -1 : setitimer(ITIMER_REAL, &alarms, NULL);
}

int main(int argc, char **argv)
{
	sigset_t alarm;
	pthread_t thread;

	if (argc < 3 || map_counts(argv[1]))
		return 2;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (start_timers(atol(argv[2]), argc > 3) || pthread_sigmask(SIG_BLOCK, &alarm, NULL))
		return 2;
	for (int i = 1; i < N_THREADS; i++)
		if (pthread_create(&thread, NULL, work, counts[i]))
			return 2;
	if (pthread_sigmask(SIG_UNBLOCK, &alarm, NULL))
		return 2;
	(void)work(counts[0]); /* until the end */
	return 0;
}
