/* SPDX-License-Identifier: BSD-3-Clause */
/* /proc/<pid>/stat, fields 3 (state), 20 (threads) and 22 (start, clock ticks since boot). */
#include "collector/liveness.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define SLACK_TICKS 3 /* start times are rounded down, clocks read one after the other */

bool cm_liveness_parse(const char *name, uint64_t *ret_pid, uint64_t *ret_start_ns)
{
	size_t n_digits = strspn(name, "0123456789"), n_hex;

	if (!n_digits || n_digits > 10 || name[n_digits] != '-')
		return false;
	n_hex = strspn(name + n_digits + 1, "0123456789abcdef");
	if (!n_hex || n_hex > 16 || name[n_digits + 1 + n_hex])
		return false;
	return sscanf(name, "%" SCNu64 "-%" SCNx64, ret_pid, ret_start_ns) == 2;
}

/* CLOCK_BOOTTIME goes on while the machine sleeps, CLOCK_MONOTONIC does not. */
static int64_t find_sleep_ns(void)
{
	struct timespec boot, mono;

	if (clock_gettime(CLOCK_MONOTONIC, &mono) < 0 || clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return 0;
	return (boot.tv_sec - mono.tv_sec) * SECOND_NS + (boot.tv_nsec - mono.tv_nsec);
}

bool cm_liveness_is_alive(uint64_t pid, uint64_t start_ns)
{
	long hz = sysconf(_SC_CLK_TCK);
	char path[40], text[1024], state;
	unsigned long long start;
	const char *fields;
	long n_threads;
	int64_t birth_ns;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return errno != ENOENT;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	/* The command's name, in parentheses, may itself hold anything. */
	fields = strrchr(text, ')');
	if (!n || !fields || hz <= 0)
		return n != 0; /* nothing to read: it went away just now */
	if (sscanf(fields + 1,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld %*s "
		   "%llu",
		   &state, &n_threads, &start) != 3)
		return true;
	/* A leader that has left, while its threads run on, looks like a zombie as well. */
	if (state == 'X' || (state == 'Z' && n_threads <= 1))
		return false;
	birth_ns = (int64_t)(start * (uint64_t)(SECOND_NS / hz)) - find_sleep_ns();
	return birth_ns <= (int64_t)start_ns + SLACK_TICKS * (SECOND_NS / hz);
}
