/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-regions: two threads, pinned to the first two CPUs, call a hundred functions once each;
 * prints the time (CLOCK_MONOTONIC, seconds) at which main() returns.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X) \
	TEN(X, 0)  \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)

#define DECLARE(n) int bench_region_##n(int x);
HUNDRED(DECLARE)

static void *call_all(void *cpu)
{
	cpu_set_t set;
	int x = 0;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* elsewhere it has no markers: seen */
#define CALL(n) x += bench_region_##n(x);
	HUNDRED(CALL)
	__asm__ volatile("" ::"r"(x)); /* the sum is used */
	return NULL;
}

int main(void)
{
	pthread_t other;
	struct timespec ts;

	if (pthread_create(&other, NULL, call_all, (void *)1))
		return 1;
	(void)call_all((void *)0);
	(void)pthread_join(other, NULL);	   /* it was created */
	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	printf("%ld.%09ld\n", (long)ts.tv_sec, ts.tv_nsec);
	return 0;
}
