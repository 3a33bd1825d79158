/* SPDX-License-Identifier: BSD-3-Clause */
/* bench-signals N: N times four raw sigprocmask calls; prints the nanoseconds of four. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static inline void set_mask(const uint64_t *mask, uint64_t *old)
{
	register long n_bytes __asm__("r10") = 8;
	long rc = SYS_rt_sigprocmask;

	__asm__ volatile("syscall"
			 : "+a"(rc)
			 : "D"(SIG_SETMASK), "S"(mask), "d"(old), "r"(n_bytes)
			 : "rcx", "r11", "memory");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;
	uint64_t all = ~UINT64_C(0), old;
	double start = now_ns();

	for (long i = 0; i < 2 * n; i++) {
		set_mask(&all, &old);
		set_mask(&old, NULL);
	}
	printf("%.3f\n", (now_ns() - start) / (double)n);
	return 0;
}
