/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench-unwind N DEPTH HOW: what libunwind takes for eight frames, DEPTH functions below main;
 * prints the nanoseconds of processor time of one time.
 * bench-unwind N DEPTH backtrace: by unw_backtrace(), which remembers what it has learnt.
 * bench-unwind N DEPTH saved: the same, with the vector registers that may hold arguments kept.
 * bench-unwind N DEPTH cursor: by a loop of unw_step().
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_FRAMES 8
#define N_VECTORS 16

static unsigned char vectors[N_VECTORS * 64] __attribute__((aligned(64)));
static long n_frames;
static double ns;

static double now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts); /* cannot fail for this clock */
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

#define EACH(move, name)                                                                    \
	move(name, 0) move(name, 1) move(name, 2) move(name, 3) move(name, 4) move(name, 5) \
		move(name, 6) move(name, 7) move(name, 8) move(name, 9) move(name, 10)      \
			move(name, 11) move(name, 12) move(name, 13) move(name, 14) move(name, 15)
#define STORE(name, i) "vmovups %%" #name #i ", 64*" #i "(%0)\n\t"
#define LOAD(name, i) "vmovups 64*" #i "(%0), %%" #name #i "\n\t"

static void keep(void)
{
	if (__builtin_cpu_supports("avx512f"))
		__asm__ volatile(EACH(STORE, zmm) : : "r"(vectors) : "memory");
	else if (__builtin_cpu_supports("avx"))
		__asm__ volatile(EACH(STORE, ymm) : : "r"(vectors) : "memory");
}

static void give_back(void)
{
	if (__builtin_cpu_supports("avx512f"))
		__asm__ volatile(EACH(LOAD, zmm) : : "r"(vectors) : "memory");
	else if (__builtin_cpu_supports("avx"))
		__asm__ volatile(EACH(LOAD, ymm) : : "r"(vectors) : "memory");
}

static int walk(void **frames)
{
	unw_context_t context;
	unw_cursor_t cursor;
	int n = 0;

	if (unw_getcontext(&context) || unw_init_local(&cursor, &context))
		return 0;
	while (n < N_FRAMES && unw_step(&cursor) > 0) {
		unw_word_t ip = 0;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			break;
		frames[n++] = (void *)ip;
	}
	return n;
}

__attribute__((noinline)) static void measure(long n, const char *how)
{
	int is_saved = !strcmp(how, "saved"), is_cursor = !strcmp(how, "cursor");
	void *frames[N_FRAMES];
	double start;

	for (int i = 0; i < 1000; i++)
		n_frames += is_cursor ? walk(frames) : unw_backtrace(frames, N_FRAMES);
	start = now_ns();
	for (long i = 0; i < n; i++) {
		if (is_saved)
			keep();
		n_frames += is_cursor ? walk(frames) : unw_backtrace(frames, N_FRAMES);
		if (is_saved)
			give_back();
	}
	ns = (now_ns() - start) / (double)n;
}

__attribute__((noinline)) static void go_down(long n, int depth, const char *how)
{
	if (depth > 0)
		go_down(n, depth - 1, how);
	else
		measure(n, how);
	__asm__ volatile("" ::: "memory"); /* it returns here */
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[1]) : 0;

	if (n < 1)
		return 2;
	go_down(n, atoi(argv[2]), argv[3]);
	if (n_frames != (n + 1000) * N_FRAMES)
		return 1;
	printf("%.3f\n", ns);
	return 0;
}
