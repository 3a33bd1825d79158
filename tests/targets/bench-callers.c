/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-callers N DEPTH: N calls of bench_empty from DEPTH functions below main, by eight call
 * sites in turn; prints the nanoseconds of processor time of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int bench_empty(int x);

static double ns;

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts); /* cannot fail for this clock */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

__attribute__((noinline)) static void call(long n)
{
	int x = 0;

	for (long i = 0; i < n; i += 8) {
		x += bench_empty((int)i);
		x += bench_empty((int)i + 1);
		x += bench_empty((int)i + 2);
		x += bench_empty((int)i + 3);
		x += bench_empty((int)i + 4);
		x += bench_empty((int)i + 5);
		x += bench_empty((int)i + 6);
		x += bench_empty((int)i + 7);
	}
	__asm__ volatile("" ::"r"(x)); /* the sum is used */
}

__attribute__((noinline)) static void go_down(long n, int depth)
{
	double start;

	if (depth > 0) {
		go_down(n, depth - 1);
		__asm__ volatile("" ::: "memory"); /* it returns here */
		return;
	}
	call(10000);
	start = now_ns();
	call(n);
	ns = (now_ns() - start) / (double)n;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;

	if (n < 8 || n % 8)
		return 2;
	go_down(n, atoi(argv[2]));
	printf("%.3f\n", ns);
	return 0;
}
