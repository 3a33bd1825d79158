/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What scripts/bench-limits.sh measures; linked with libraries whose functions it calls.
 *
 * limits start             the time of CLOCK_MONOTONIC in main(), in nanoseconds
 * limits stack             bytes between this frame and that of a callee: without stack arguments,
 *                          with 10 of them, and of a variadic one
 * limits memory THREADS    resident and reserved KiB of the process, with threads that have called
 * limits spool THREADS N   each thread makes N calls, then the process is killed
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uintptr_t lib0_frame(void);
uintptr_t lib0_frame_wide(long, long, long, long, long, long, long, long, long, long, long, long,
			  long, long, long, long);
uintptr_t lib0_frame_variadic(int n, ...);
long lib0_f0(long n);

#define MAX_THREADS 64

static pthread_barrier_t all_called, may_end;
static long n_calls;

static int print_start(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
	return 0;
}

static int print_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	/* The first call resolves the slot, on some other stack depth of the loader's. */
	for (int i = 0; i < 2; i++) {
		uintptr_t plain = lib0_frame();
		uintptr_t wide =
			lib0_frame_wide(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
		uintptr_t variadic = lib0_frame_variadic(3, 1, 2, 3);

		if (i == 1)
			printf("%zu %zu %zu\n", here - plain, here - wide, here - variadic);
	}
	return 0;
}

static void *call(void *arg)
{
	long sum = 0;

	for (long i = 0; i < n_calls; i++)
		sum += lib0_f0(i);
	(void)pthread_barrier_wait(&all_called);
	(void)pthread_barrier_wait(&may_end);
	return sum ? arg : NULL;
}

static void print_memory(void)
{
	char line[128];
	FILE *status = fopen("/proc/self/status", "re");
	long resident = 0, reserved = 0;

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, "VmRSS:", 6))
			resident = strtol(line + 6, NULL, 10);
		if (!strncmp(line, "VmSize:", 7))
			reserved = strtol(line + 7, NULL, 10);
	}
	if (status)
		fclose(status);
	printf("%ld %ld\n", resident, reserved);
}

static int run_threads(int n, bool is_killed)
{
	pthread_t threads[MAX_THREADS];

	if (n < 0 || n > MAX_THREADS)
		return 2;
	pthread_barrier_init(&all_called, NULL, (unsigned int)n + 1);
	pthread_barrier_init(&may_end, NULL, (unsigned int)n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, call, NULL))
			return 1;
	(void)pthread_barrier_wait(&all_called);
	if (is_killed)
		(void)raise(SIGKILL); /* does not come back */
	print_memory();
	(void)pthread_barrier_wait(&may_end);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "start"))
		return print_start();
	if (argc == 2 && !strcmp(argv[1], "stack"))
		return print_stack();
	if (argc < 3)
		return 2;
	n_calls = argc > 3 ? atol(argv[3]) : 1;
	return run_threads(atoi(argv[2]), !strcmp(argv[1], "spool"));
}
