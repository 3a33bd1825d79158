/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. Exported from the executable, else liblikwid would not find them. */
#include "collector/reader-sleep.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_NS 100000000L /* what counts as long */
#define SHORT_NS 1000000L

static bool is_short;

void cm_reader_sleep_shorten(void)
{
	is_short = true;
}

__attribute__((visibility("default"))) int clock_nanosleep(clockid_t clock, int flags,
							   const struct timespec *wanted,
							   struct timespec *ret_left)
{
	static const struct timespec shortened = {.tv_nsec = SHORT_NS};
	bool is_long = wanted && (wanted->tv_sec > 0 || wanted->tv_nsec >= LONG_NS);

	if (is_short && is_long && !(flags & TIMER_ABSTIME))
		wanted = &shortened;
	/* This one returns the error itself, a positive number. */
	return syscall(SYS_clock_nanosleep, clock, flags, wanted, ret_left) < 0 ? errno : 0;
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *wanted,
						     struct timespec *ret_left)
{
	int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, ret_left);

	if (!error)
		return 0;
	errno = error;
	return -1;
}
