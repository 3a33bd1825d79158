/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paths HOW N: callee_add is called N times by known paths.
 *   sites      from three functions, N times each
 *   recurse    N frames of recursion deep, once; then one deeper, once
 *   many       by N different paths
 *   signal     from a handler, below send_signal; alternate: the same, on an alternate stack
 *   fibers     on N fibers
 *   cut        through a function without unwind information
 *   frames     through functions whose frames are realigned, of varying size, and large
 *   threads    on four threads, through one of two functions each
 *   fork       N times; then a child calls from one more function, N times; then the parent does
 *   wait       N times, a line on stdout, and then it sleeps
 *   open       in constructors of the plugin PLUGIN, which is opened N times and closed, while
 *              another thread opens and closes one too: paths open N PLUGIN OTHER
 */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define NOINLINE __attribute__((noinline))
/* What follows a call keeps it from being the function's last jump. */
#define STAY() STAY_IN("")
/* And a text of its own keeps two functions from being made one. */
#define STAY_IN(name) __asm__ volatile("# " name ::: "memory")

#define STACK_BYTES (64u << 10)
#define LARGE_BYTES (1u << 20)

static long sum;
static long n_calls;

/* Of paths-cut.S. */
void without_tables(void (*function)(void));

#define SITE(name)                       \
	NOINLINE static void name(void)  \
	{                                \
		sum += callee_add(1, 2); \
		n_calls++;               \
		STAY_IN(#name);          \
	}
SITE(site_one)
SITE(site_two)
SITE(site_three)

NOINLINE static void deep(long n)
{
	if (n > 1)
		deep(n - 1);
	else
		site_one();
	STAY();
}

static void choose(long i, int n_bits);

NOINLINE static void go_left(long i, int n_bits)
{
	choose(i >> 1, n_bits - 1);
	STAY_IN("go_left");
}

NOINLINE static void go_right(long i, int n_bits)
{
	choose(i >> 1, n_bits - 1);
	STAY_IN("go_right");
}

NOINLINE static void choose(long i, int n_bits)
{
	if (!n_bits)
		site_one();
	else if (i & 1)
		go_left(i, n_bits);
	else
		go_right(i, n_bits);
	STAY();
}

static void on_signal(int number)
{
	(void)number;
	site_two();
	STAY();
}

NOINLINE static void send_signal(void)
{
	if (raise(SIGUSR1))
		exit(1);
	STAY();
}

static void handle(long n, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
	stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};

	if (!stack.ss_sp || (flags && sigaltstack(&stack, NULL)) ||
	    sigaction(SIGUSR1, &action, NULL))
		exit(1);
	for (long i = 0; i < n; i++)
		send_signal();
}

static ucontext_t fiber_context, main_context;

static void run_fiber(void)
{
	deep(3);
	STAY();
}

static void use_fiber(void)
{
	char *stack = malloc(STACK_BYTES);

	if (!stack || getcontext(&fiber_context))
		exit(1);
	fiber_context.uc_stack.ss_sp = stack;
	fiber_context.uc_stack.ss_size = STACK_BYTES;
	fiber_context.uc_link = &main_context;
	makecontext(&fiber_context, run_fiber, 0);
	if (swapcontext(&main_context, &fiber_context))
		exit(1);
	free(stack);
}

static void cut(long n)
{
	for (long i = 0; i < n; i++)
		without_tables(site_one);
}

NOINLINE static void realigned(long n)
{
	char aligned[64] __attribute__((aligned(64)));
	char *room = alloca((size_t)n + 16);

	memset(aligned, 1, sizeof(aligned));
	memset(room, 1, (size_t)n);
	__asm__ volatile("" ::"r"(room), "r"(aligned) : "memory");
	site_three();
	STAY();
}

NOINLINE static void growing(long n)
{
	char *room = alloca((size_t)(n % 100) * 16 + 16);

	memset(room, 1, 16);
	__asm__ volatile("" ::"r"(room) : "memory");
	realigned(n);
	STAY();
}

NOINLINE static void large(long n)
{
	char room[LARGE_BYTES];

	memset(room, 1, 64);
	__asm__ volatile("" ::"r"(room) : "memory");
	growing(n);
	STAY();
}

NOINLINE static void *thread_even(void *n)
{
	for (long i = 0; i < (long)n; i++)
		site_one();
	STAY_IN("thread_even");
	return NULL;
}

NOINLINE static void *thread_odd(void *n)
{
	for (long i = 0; i < (long)n; i++)
		site_two();
	STAY_IN("thread_odd");
	return NULL;
}

static void use_threads(long n)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, i % 2 ? thread_odd : thread_even, (void *)n))
			exit(1);
	for (int i = 0; i < 4; i++)
		if (pthread_join(threads[i], NULL))
			exit(1);
}

static void use_fork(long n)
{
	int status = 1;
	pid_t child;

	for (long i = 0; i < n; i++)
		site_one();
	child = fork();
	if (!child) {
		for (long i = 0; i < n; i++)
			site_two();
		exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
	for (long i = 0; i < n; i++)
		site_one();
}

static void open_one(const char *path, long n)
{
	for (long i = 0; i < n; i++) {
		void *handle = dlopen(path, RTLD_NOW);

		if (!handle || dlclose(handle)) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
	}
}

static long n_opens;

static void *open_other(void *path)
{
	open_one(path, n_opens);
	return NULL;
}

static void use_plugins(long n, char **paths)
{
	pthread_t thread;

	n_opens = n;
	if (pthread_create(&thread, NULL, open_other, paths[1]))
		exit(1);
	open_one(paths[0], n);
	if (pthread_join(thread, NULL))
		exit(1);
}

static void wait_for_death(long n)
{
	for (long i = 0; i < n; i++)
		site_one();
	printf("ready\n");
	(void)fflush(stdout);
	for (;;)
		(void)pause(); /* until it is killed */
}

static int run(const char *how, long n, char **more)
{
	if (!strcmp(how, "sites")) {
		for (long i = 0; i < n; i++) {
			site_one();
			site_two();
			site_three();
		}
	} else if (!strcmp(how, "recurse")) {
		deep(n);
		deep(n + 1);
	} else if (!strcmp(how, "many")) {
		for (long i = 0; i < n; i++)
			choose(i, 13);
	} else if (!strcmp(how, "signal") || !strcmp(how, "alternate")) {
		handle(n, how[0] == 'a' ? SA_ONSTACK : 0);
	} else if (!strcmp(how, "fibers")) {
		for (long i = 0; i < n; i++)
			use_fiber();
	} else if (!strcmp(how, "cut")) {
		cut(n);
	} else if (!strcmp(how, "frames")) {
		for (long i = 0; i < n; i++)
			large(i);
	} else if (!strcmp(how, "threads")) {
		use_threads(n);
	} else if (!strcmp(how, "fork")) {
		use_fork(n);
	} else if (!strcmp(how, "wait")) {
		wait_for_death(n);
	} else if (!strcmp(how, "open") && more[0] && more[1]) {
		use_plugins(n, more);
	} else {
		return 2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int rc = argc > 2 ? run(argv[1], atol(argv[2]), argv + 3) : 2;

	if (!rc)
		printf("%ld %ld\n", n_calls, sum);
	return rc;
}
