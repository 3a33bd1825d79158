/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fibers interleave N: eight fibers, each N times in callee_call, which yields inside it; they are
 * resumed round and round, so that no call ends in the order in which it began.
 * fibers unmap N: N fibers that yield inside callee_call, never resume, and lose their stacks.
 * fibers move N: N fibers begin a call in the main thread and end it in another.
 * fibers entry N: N fibers whose entry is callee_ten itself (found by dlsym), with ten arguments.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/targets/callee.h"

#define N_FIBERS 8
#define STACK_BYTES (64u << 10)

struct fiber {
	ucontext_t context;
	ucontext_t back;
	char *stack;
	long n_left;
	int is_done;
};

static long sum;

static void yield_inside(void *arg)
{
	struct fiber *fiber = arg;

	sum += callee_add(1, 1);
	(void)swapcontext(&fiber->context, &fiber->back); /* fails only for want of memory */
	sum += callee_add(1, 1);
}

static void run_fiber(unsigned int low, unsigned int high)
{
	struct fiber *fiber = (struct fiber *)((unsigned long)high << 32 | low);

	while (fiber->n_left-- > 0)
		callee_call(yield_inside, fiber);
	fiber->is_done = 1;
	(void)swapcontext(&fiber->context, &fiber->back); /* never resumed */
}

static void start(struct fiber *fiber, long n)
{
	unsigned long bits = (unsigned long)fiber;

	memset(fiber, 0, sizeof(*fiber));
	fiber->n_left = n;
	fiber->stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fiber->stack == MAP_FAILED || getcontext(&fiber->context))
		exit(1);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&fiber->context, (void (*)(void))run_fiber, 2, (unsigned int)bits,
		    (unsigned int)(bits >> 32));
}

static void resume(struct fiber *fiber)
{
	if (swapcontext(&fiber->back, &fiber->context))
		exit(1);
}

static void stop(struct fiber *fiber)
{
	if (munmap(fiber->stack, STACK_BYTES))
		exit(1);
}

static void interleave(long n)
{
	static struct fiber fibers[N_FIBERS];
	int n_running = N_FIBERS;

	for (int i = 0; i < N_FIBERS; i++)
		start(&fibers[i], n);
	while (n_running) {
		n_running = 0;
		for (int i = 0; i < N_FIBERS; i++) {
			if (!fibers[i].is_done)
				resume(&fibers[i]);
			n_running += !fibers[i].is_done;
		}
		sum += callee_add(0, 1);
	}
	for (int i = 0; i < N_FIBERS; i++)
		stop(&fibers[i]);
}

static void unmap(long n)
{
	static struct fiber fiber;

	for (long i = 0; i < n; i++) {
		start(&fiber, 1);
		resume(&fiber);
		stop(&fiber);
		sum += callee_add(1, 1);
	}
}

static void *resume_here(void *arg)
{
	resume(arg);
	return NULL;
}

static void move(long n)
{
	static struct fiber fiber;
	pthread_t thread;

	for (long i = 0; i < n; i++) {
		start(&fiber, 1);
		resume(&fiber);
		if (pthread_create(&thread, NULL, resume_here, &fiber) ||
		    pthread_join(thread, NULL))
			exit(1);
		stop(&fiber);
		sum += callee_add(1, 1);
	}
}

static void enter_callee(long n)
{
	static struct fiber fiber;
	void (*entry)(void);

	void *handle = dlopen("libcallee.so", RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&entry = handle ? dlsym(handle, "callee_ten") : NULL;
	if (!entry)
		exit(1);
	for (long i = 0; i < n; i++) {
		start(&fiber, 1);
		fiber.context.uc_link = &fiber.back;
		makecontext(&fiber.context, entry, 10, 1, 2, 3, 4, 5, 6, 7, 8, 9, (int)i);
		resume(&fiber);
		sum += callee_kept();
		stop(&fiber);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(how, "interleave"))
		interleave(n);
	else if (!strcmp(how, "unmap"))
		unmap(n);
	else if (!strcmp(how, "move"))
		move(n);
	else if (!strcmp(how, "entry"))
		enter_callee(n);
	else
		return 2;
	printf("%ld\n", sum);
	return 0;
}
