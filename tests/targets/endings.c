/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * endings N HOW: N calls of callee_add, then the end of the process by HOW: return, exit, _exit,
 * quick_exit, abort, segv, kill, term, thread (exit from a second thread), open (killed inside
 * callee_call), atexit (N more calls in an atexit handler), hang (waits to be killed).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static long n_calls;

static void add(void)
{
	long sum = 0;

	for (long i = 0; i < n_calls; i++)
		sum += callee_add((int)(i % 10), 1);
	printf("%ld\n", sum);
	fflush(stdout);
}

static void *exit_from_thread(void *arg)
{
	(void)arg;
	exit(7);
}

static void kill_us(void *arg)
{
	(void)arg;
	(void)raise(SIGKILL); /* does not come back */
}

static void start(void *(*work)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		_exit(1);
}

static int end(const char *how)
{
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick_exit"))
		quick_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		raise(SIGSEGV);
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "thread")) {
		start(exit_from_thread);
		for (;;)
			(void)pause(); /* until the other thread ends the process */
	}
	if (!strcmp(how, "open"))
		callee_call(kill_us, NULL);
	if (!strcmp(how, "hang"))
		for (;;)
			(void)pause(); /* until the test kills us */
	return strcmp(how, "return") && strcmp(how, "atexit") ? 2 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	n_calls = atol(argv[1]);
	add();
	if (!strcmp(argv[2], "atexit") && atexit(add))
		return 1;
	return end(argv[2]);
}
