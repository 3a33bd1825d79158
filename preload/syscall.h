/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls without libc: no errno, no cancellation point, no vector register touched.
 *
 * The recorder (everything reachable from a hook) uses these alone, so that vector arguments and
 * returns of the intercepted function need no saving. Returns are the kernel's: -errno on failure.
 * hook-safe.
 */
#ifndef CALLMARK_PRELOAD_SYSCALL_H
#define CALLMARK_PRELOAD_SYSCALL_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#define CM_GET_MDWE 66 /* PR_GET_MDWE, Linux 6.3: all further arguments are 0 */

static inline long cm_sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long cm_sys3(long nr, long a, long b, long c)
{
	return cm_sys6(nr, a, b, c, 0, 0, 0);
}

static inline int cm_sys_open(const char *path, int flags, int mode)
{
	return (int)cm_sys6(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, mode, 0, 0);
}

static inline void cm_sys_close(int fd)
{
	(void)cm_sys3(SYS_close, fd, 0, 0); /* nothing can be done about a failing close here */
}

static inline void *cm_sys_mmap(size_t n_bytes, int prot, int flags, int fd)
{
	long ret = cm_sys6(SYS_mmap, 0, (long)n_bytes, prot, flags, fd, 0);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

static inline void *cm_sys_mmap_at(size_t n_bytes, int prot, int flags, int fd, uint64_t offset)
{
	long ret = cm_sys6(SYS_mmap, 0, (long)n_bytes, prot, flags, fd, (long)offset);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

/* Anonymous private memory, zeroed; NULL where there is none. */
static inline void *cm_sys_memory(size_t n_bytes)
{
	return cm_sys_mmap(n_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static inline int cm_sys_getpid(void)
{
	return (int)cm_sys3(SYS_getpid, 0, 0, 0);
}

static inline int cm_sys_gettid(void)
{
	return (int)cm_sys3(SYS_gettid, 0, 0, 0);
}

static inline uint64_t cm_sys_clock_ns(int clock)
{
	struct timespec ts = {0};

	(void)cm_sys3(SYS_clock_gettime, clock, (long)&ts, 0); /* these clocks cannot fail */
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The largest file this process may write without SIGXFSZ. */
static inline uint64_t cm_sys_file_limit(void)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	(void)cm_sys6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
	return limit.rlim_cur;
}

/* Block all signals, also those that libc keeps for itself; returns the old mask. */
static inline uint64_t cm_sys_block_signals(void)
{
	uint64_t all = ~UINT64_C(0), old = 0;

	(void)cm_sys6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&all, (long)&old, 8, 0, 0);
	return old;
}

static inline void cm_sys_restore_signals(uint64_t old)
{
	(void)cm_sys6(SYS_rt_sigprocmask, 2, (long)&old, 0, 8, 0, 0);
}

#endif
