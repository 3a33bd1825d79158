/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async-cancel N: N threads, one after the other, cancelled asynchronously while they call
 * callee_add over and over. Prints how many calls were begun, at most one a thread too many.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/targets/callee.h"

static volatile long n_begun;

static void *work(void *arg)
{
	if (pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL))
		exit(1);
	for (;;) {
		n_begun++;
		(void)callee_add(1, 1); /* only the number of calls matters */
	}
	return arg;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long n_cancelled = 0;

	for (long i = 0; i < n; i++) {
		struct timespec wait = {.tv_nsec = 20000 + i % 100 * 1000};
		long before = n_begun;
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, NULL, work, NULL))
			return 1;
		while (n_begun == before)
			(void)nanosleep(&wait, NULL); /* about that long */
		if (pthread_cancel(thread) || pthread_join(thread, &result))
			return 1;
		n_cancelled += result == PTHREAD_CANCELED;
	}
	printf("%ld cancelled\n", n_cancelled);
	fprintf(stderr, "begun %ld\n", n_begun);
	return 0;
}
