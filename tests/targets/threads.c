/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads T N [return|exit|cancel|PLUGIN]: T threads make N calls of callee_add each and end by
 * return, by pthread_exit under callee_call, or by being cancelled inside callee_wait. PLUGIN
 * (locked-plugin): by pthread_exit, all while the loader's lock is held.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define MAX_THREADS 256

static const char *how = "return";
static long n_calls;
static pthread_barrier_t all_counted;

__attribute__((visibility("default"))) void host_is_locked(void);

static void leave(void *arg)
{
	pthread_exit(arg);
}

static void *work(void *arg)
{
	long sum = 0;

	for (long i = 0; i < n_calls; i++)
		sum += callee_add((int)(i % 10), 1);
	*(long *)arg = sum;
	(void)pthread_barrier_wait(&all_counted); /* its return value only elects a thread */
	if (!strcmp(how, "exit") || strchr(how, '/'))
		callee_call(leave, NULL);
	if (!strcmp(how, "cancel"))
		callee_wait();
	return NULL;
}

static void *leave_first(void *arg)
{
	leave(arg);
	return NULL;
}

/* Called by the plugin's constructor: what the threads ask of the loader now, they wait for. */
void host_is_locked(void)
{
	(void)pthread_barrier_wait(&all_counted); /* its return value only elects a thread */
	(void)usleep(100000);			  /* for all of them to come that far */
}

/* pthread_exit loads the unwinder itself, once, and would wait with that. */
static int open_plugin(void)
{
	pthread_t first;

	return pthread_create(&first, NULL, leave_first, NULL) || pthread_join(first, NULL) ||
	       !dlopen(how, RTLD_NOW);
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	long sums[MAX_THREADS] = {0};
	int n_threads = argc > 2 ? atoi(argv[1]) : 0;
	long total = 0;
	int n_cancelled = 0;

	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 2;
	n_calls = atol(argv[2]);
	if (argc > 3)
		how = argv[3];
	if (pthread_barrier_init(&all_counted, NULL, (unsigned)n_threads + 1))
		return 1;
	for (int i = 0; i < n_threads; i++) {
		if (pthread_create(&threads[i], NULL, work, &sums[i]))
			return 1;
	}
	if (!strchr(how, '/'))
		(void)pthread_barrier_wait(&all_counted); /* as above */
	else if (open_plugin())
		return 1;
	for (int i = 0; i < n_threads; i++) {
		void *result;

		if (!strcmp(how, "cancel") && pthread_cancel(threads[i]))
			return 1;
		if (pthread_join(threads[i], &result))
			return 1;
		n_cancelled += result == PTHREAD_CANCELED;
		total += sums[i];
	}
	printf("%ld, %d cancelled\n", total, n_cancelled);
	return 0;
}
