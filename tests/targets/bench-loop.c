/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-loop N [THREADS]: N calls of bench_empty on each thread; prints the nanoseconds of one,
 * the mean over the threads. With BENCH_WARM set, that many calls come first, outside the time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_THREADS 64

int bench_empty(int x);

static long n_calls;
static long n_warm = 10000;
static pthread_barrier_t start_line;

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void call(long n)
{
	int x = 0;

	for (long i = 0; i < n; i++)
		x += bench_empty((int)i);
	__asm__ volatile("" ::"r"(x)); /* the sum is used */
}

static void *measure(void *ret_ns)
{
	double start;

	call(n_warm);
	(void)pthread_barrier_wait(&start_line); /* its return value only elects a thread */
	start = now_ns();
	call(n_calls);
	*(double *)ret_ns = (now_ns() - start) / (double)n_calls;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	double ns[MAX_THREADS];
	double sum = 0;
	int n_threads = argc > 2 ? atoi(argv[2]) : 1;

	n_calls = argc > 1 ? atol(argv[1]) : 1000000;
	if (getenv("BENCH_WARM"))
		n_warm = atol(getenv("BENCH_WARM"));
	if (n_calls < 1 || n_threads < 1 || n_threads > MAX_THREADS ||
	    pthread_barrier_init(&start_line, NULL, (unsigned)n_threads))
		return 2;
	for (int i = 1; i < n_threads; i++) {
		if (pthread_create(&threads[i], NULL, measure, &ns[i]))
			return 1;
	}
	measure(&ns[0]);
	for (int i = 0; i < n_threads; i++) {
		if (i && pthread_join(threads[i], NULL))
			return 1;
		sum += ns[i];
	}
	printf("%.3f\n", sum / n_threads);
	return 0;
}
