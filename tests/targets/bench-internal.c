/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-internal N plt|internal: N calls of libbench's bench_empty, or of a function of this file
 * that does as little; prints the nanoseconds of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int bench_empty(int x);

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* As long as the jump that takes its place. */
__attribute__((noinline)) static int bench_inner(int x)
{
	return x ^ 0x5a5a5a;
}

__attribute__((noinline)) static double call_inner(long n)
{
	double start = now_ns();
	int x = 0;

	for (long i = 0; i < n; i++)
		x += bench_inner((int)i);
	__asm__ volatile("" ::"r"(x)); /* the sum is used */
	return now_ns() - start;
}

__attribute__((noinline)) static double call_library(long n)
{
	double start = now_ns();
	int x = 0;

	for (long i = 0; i < n; i++)
		x += bench_empty((int)i);
	__asm__ volatile("" ::"r"(x));
	return now_ns() - start;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	double (*call)(long n) = argc > 2 && !strcmp(argv[2], "plt") ? call_library : call_inner;

	if (n < 1)
		return 2;
	(void)call(10000); /* warms the thread up */
	printf("%.3f\n", call(n) / (double)n);
	return 0;
}
