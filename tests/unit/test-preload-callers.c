/* SPDX-License-Identifier: BSD-3-Clause */
/* Walking frames: the same as glibc's backtrace(), which asks the unwinder of gcc. */
#include <alloca.h>
#include <criterion/criterion.h>
#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/callers.h"
#include "preload/object.h"
#include "preload/rules.h"

#define MAX CM_RULES_MAX_CALLERS
/* A sanitizer's frames would be all alike. */
#define NOINLINE __attribute__((noinline, noclone, no_sanitize("address", "undefined")))
#define STAY() __asm__ volatile("" ::: "memory")

static int n_compared;
static bool has_handler;

/* Is this what glibc has, less the frame to which a handler returns? */
static void compare(const uint64_t *frames, uint32_t n, void *const *expected, int n_expected)
{
	int k = 1;

	/* A sanitizer's own backtrace() comes first. */
	while (k < 3 && k < n_expected && n > 1 && frames[1] - (uint64_t)expected[k] > 1)
		k++;
	for (uint32_t i = 1; i < n; i++, k++) {
		if (k < n_expected && frames[i] - (uint64_t)expected[k] > 1)
			k += has_handler;
		cr_assert_lt(k, n_expected, "frame %u of %u: there are %d", i, n, n_expected);
		cr_assert_leq(frames[i] - (uint64_t)expected[k], 1, "frame %u: %lx, expected %p", i,
			      frames[i], expected[k]);
	}
	cr_expect_eq(k, n_expected, "%d frames, expected %d", k, n_expected);
	n_compared += (int)n;
}

NOINLINE static void look(void)
{
	struct cm_callers_frame start = {.is_exact = true, .has_rbp = true};
	void *expected[MAX];
	uint64_t frames[MAX];
	uint32_t n, flags;
	int n_expected = backtrace(expected, MAX);

	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=r"(start.pc), "=r"(start.rsp), "=r"(start.rbp));
	n = cm_callers_walk(&start, MAX, frames, &flags);
	cr_expect_eq(flags, 0);
	compare(frames, n, expected, n_expected);
}

NOINLINE static int look_and_order(const void *a, const void *b)
{
	look();
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void refresh(void)
{
	void *frames[2];

	(void)backtrace(frames, 2); /* it loads a library the first time */
	(void)cm_object_refresh();
}

Test(callers, are_those_that_backtrace_finds)
{
	refresh();
	look();
	cr_expect_gt(n_compared, 4);
}

Test(callers, are_found_through_a_callback_of_libc)
{
	int numbers[] = {3, 1, 2};

	refresh();
	qsort(numbers, 3, sizeof(*numbers), look_and_order);
	cr_expect_gt(n_compared, 10);
}

NOINLINE static void from_a_realigned_frame(size_t n)
{
	char aligned[128] __attribute__((aligned(128)));
	char *room = alloca(n);

	memset(aligned, 1, sizeof(aligned));
	memset(room, 1, n);
	__asm__ volatile("" ::"r"(aligned), "r"(room) : "memory");
	look();
	STAY();
}

NOINLINE static void from_a_large_frame(size_t n)
{
	char room[600000];

	memset(room, 1, n);
	__asm__ volatile("" ::"r"(room) : "memory");
	from_a_realigned_frame(n);
	STAY();
}

Test(callers, are_found_above_frames_of_all_kinds)
{
	refresh();
	for (size_t n = 16; n < 2000; n += 100)
		from_a_large_frame(n);
	cr_expect_gt(n_compared, 100);
}

static void on_signal(int number)
{
	(void)number;
	has_handler = true;
	look();
	has_handler = false;
}

NOINLINE static void send(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(raise(SIGUSR1), 0);
}

Test(callers, of_a_handler_are_those_of_what_it_interrupted)
{
	stack_t stack = {.ss_sp = malloc(256 << 10), .ss_size = 256 << 10};

	cr_assert_not_null(stack.ss_sp);
	refresh();
	send(0);
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	send(SA_ONSTACK);
	cr_expect_gt(n_compared, 40);
	stack.ss_flags = SS_DISABLE;
	cr_expect_eq(sigaltstack(&stack, NULL), 0);
	free(stack.ss_sp);
}

struct seen {
	uint64_t frames[MAX];
	uint32_t n, flags, max;
};

NOINLINE static void look_into(struct seen *seen)
{
	struct cm_callers_frame start = {.is_exact = true, .has_rbp = true};

	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
			 : "=r"(start.pc), "=r"(start.rsp), "=r"(start.rbp));
	seen->n = cm_callers_walk(&start, seen->max, seen->frames, &seen->flags);
}

NOINLINE static void look_deeper(struct seen *seen, int depth)
{
	if (depth)
		look_deeper(seen, depth - 1);
	else
		look_into(seen);
	STAY();
}

Test(callers, are_no_more_than_asked_for)
{
	struct seen seen = {.max = 7};

	refresh();
	look_deeper(&seen, 20);
	cr_expect_eq(seen.n, 7);
	cr_expect_eq(seen.flags, CM_PATH_LIMIT);
}

/* sub $8, %rsp; call *%rsi; add $8, %rsp; ret */
static const unsigned char code[] = "\x48\x83\xec\x08\xff\xd6\x48\x83\xc4\x08\xc3";

Test(callers, end_where_there_is_no_unwind_table)
{
	struct seen seen = {.max = MAX};
	void (*call)(struct seen *, void (*)(struct seen *));
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(page, MAP_FAILED);
	memcpy(page, code, sizeof(code));
	cr_assert_eq(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
	*(void **)&call = page;
	refresh();
	for (int i = 0; i < 2; i++) { /* the second time it is remembered */
		call(&seen, look_into);
		cr_expect_eq(seen.n, 2);
		cr_expect_eq(seen.frames[1], (uint64_t)page + 6);
		cr_expect_eq(seen.flags, CM_PATH_CUT);
	}
}

/* Whatever the registers are: no fault, and no end that is none. */
Test(callers, of_nonsense_are_none)
{
	static uint64_t stack[512];
	uint64_t frames[MAX];
	uint32_t flags;

	refresh();
	srandom(5);
	for (int i = 0; i < 200000; i++) {
		struct cm_callers_frame start = {.has_rbp = true, .is_exact = i % 2};

		start.pc = (uint64_t)look + (uint64_t)random() % 4096;
		if (i % 3 == 0)
			start.pc = (uint64_t)qsort + (uint64_t)random() % (1 << 20);
		start.rsp = (uint64_t)&stack[random() % 512];
		start.rbp = i % 5 ? (uint64_t)random() * (uint64_t)random()
				  : (uint64_t)&stack[random() % 512];
		for (int k = 0; k < 8; k++)
			stack[random() % 512] = i % 2 ? (uint64_t)qsort + (uint64_t)random() % 65536
						      : (uint64_t)random() << (random() % 33);
		(void)cm_callers_walk(&start, MAX, frames, &flags);
	}
}
