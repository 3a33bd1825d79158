/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark HOW N: calls whose number, nesting and CPU are known.
 *
 *	nested		N calls of callee_call, three of callee_add in each
 *	recursion	N calls of callee_factorial(5): callee_step and itself below it
 *	pinned		the above nested, N by a thread on CPU 0 and 2 N by one on CPU 1
 *	crowd		N nested by each of eight threads, all on CPU 0
 *	moving		N calls of callee_call that change the CPU, back and forth; N that do not
 *	slow		N calls of callee_add and N of callee_errno, 30 ms apart
 *	exit		N calls of callee_call under which a thread ends, N that return
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define N_CROWD 8

static long n_calls;
static pthread_barrier_t everybody, created;

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		printf("cannot go to CPU %d\n", cpu);
		exit(1);
	}
}

static void add_three(void *arg)
{
	for (int i = 0; i < 3; i++)
		*(long *)arg += callee_add(i, 1);
}

static long call_nested(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		callee_call(add_three, &sum);
	return sum;
}

static long call_recursion(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_factorial(5);
	return sum;
}

static void *work_pinned(void *arg)
{
	long cpu = *(long *)arg;

	(void)pthread_barrier_wait(&created); /* its return value only elects a thread */
	go_to((int)cpu);
	*(long *)arg = call_nested(n_calls * (cpu + 1));
	return NULL;
}

static void *work_crowd(void *arg)
{
	(void)pthread_barrier_wait(&created); /* its return value only elects a thread */
	go_to(0);
	(void)pthread_barrier_wait(&everybody);
	*(long *)arg = call_nested(n_calls);
	return NULL;
}

static void end_thread(void *arg)
{
	pthread_exit(arg);
}

static void *work_exit(void *arg)
{
	(void)pthread_barrier_wait(&created); /* its return value only elects a thread */
	*(long *)arg = 1;
	callee_call(end_thread, arg);
	return NULL;
}

/*
 * The sum of what n threads leave in their argument, which is their number at first. They begin
 * when all have been created: liblikwidpin pins a thread from its creator, after pthread_create,
 * and would undo what the thread has chosen for itself by then.
 */
static long run_threads(int n, void *(*work)(void *))
{
	pthread_t threads[N_CROWD];
	long results[N_CROWD], sum = 0;

	if (pthread_barrier_init(&created, NULL, (unsigned int)n + 1))
		exit(1);
	for (int i = 0; i < n; i++) {
		results[i] = i;
		if (pthread_create(&threads[i], NULL, work, &results[i]))
			exit(1);
	}
	(void)pthread_barrier_wait(&created);
	for (int i = 0; i < n; i++) {
		if (pthread_join(threads[i], NULL))
			exit(1);
		sum += results[i];
	}
	return sum;
}

static void move(void *arg)
{
	go_to(*(int *)arg);
}

static void stay(void *arg)
{
	++*(long *)arg;
}

static long call_moving(long n)
{
	long n_stayed = 0;
	int cpu = 0;

	go_to(0);
	for (long i = 0; i < n; i++) {
		cpu = !cpu;
		callee_call(move, &cpu);
	}
	go_to(0);
	for (long i = 0; i < n; i++)
		callee_call(stay, &n_stayed);
	return n_stayed;
}

static long call_slowly(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += callee_add(1, 1) + callee_errno(0);
		(void)usleep(30000); /* cut short: more calls in less time */
	}
	return sum;
}

static long call_exit(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++) {
		sum += run_threads(1, work_exit);
		callee_call(stay, &sum);
	}
	return sum;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long sum = -1;

	n_calls = argc > 2 ? atol(argv[2]) : 0;
	if (pthread_barrier_init(&everybody, NULL, N_CROWD))
		return 1;
	if (!strcmp(how, "nested"))
		sum = call_nested(n_calls);
	else if (!strcmp(how, "recursion"))
		sum = call_recursion(n_calls);
	else if (!strcmp(how, "pinned"))
		sum = run_threads(2, work_pinned);
	else if (!strcmp(how, "crowd"))
		sum = run_threads(N_CROWD, work_crowd);
	else if (!strcmp(how, "moving"))
		sum = call_moving(n_calls);
	else if (!strcmp(how, "slow"))
		sum = call_slowly(n_calls);
	else if (!strcmp(how, "exit"))
		sum = call_exit(n_calls);
	printf("%ld\n", sum);
	return sum < 0 ? 2 : 3;
}
