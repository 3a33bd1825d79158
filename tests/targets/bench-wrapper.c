/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What callmark is measured against: a wrapper of bench_empty as one writes it by hand for
 * LD_PRELOAD. Two timestamps and 16 bytes (start, end) a call, per thread.
 *
 * TO_FILE=0: into a ring. TO_FILE=1: into a 1 MiB buffer that write(2) empties into the file
 * named by BENCH_FILE. USE_TSC=0: clock_gettime(CLOCK_MONOTONIC). USE_TSC=1: rdtsc, the floor.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define BUFFER_BYTES (1u << 20)
#define N_RECORDS (BUFFER_BYTES / sizeof(struct record))

int bench_empty(int x);

struct record {
	uint64_t start;
	uint64_t end;
};

static int (*original)(int);
static int out_fd = -1;
static __thread struct record records[N_RECORDS] __attribute__((aligned(64)));
static __thread size_t n_records;

static inline uint64_t now(void)
{
#if USE_TSC
	return __rdtsc();
#else
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

static void flush(void)
{
	size_t n_bytes = n_records * sizeof(records[0]);

	if (write(out_fd, records, n_bytes) != (ssize_t)n_bytes)
		abort();
	n_records = 0;
}

__attribute__((constructor)) static void init(void)
{
	const char *path = getenv("BENCH_FILE");

	original = (int (*)(int))dlsym(RTLD_NEXT, "bench_empty");
	if (TO_FILE && path)
		out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (!original || (TO_FILE && out_fd < 0))
		abort();
}

__attribute__((destructor)) static void fini(void)
{
	if (TO_FILE)
		flush();
}

int bench_empty(int x)
{
	uint64_t start = now();
	int result = original(x);
	uint64_t end = now();

	records[n_records].start = start;
	records[n_records].end = end;
	if (++n_records == N_RECORDS) {
		if (TO_FILE)
			flush();
		else
			n_records = 0;
	}
	return result;
}
