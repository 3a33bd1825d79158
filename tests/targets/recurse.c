/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recurse N STACK_BYTES: N + 1 calls open at once, on the stack of a thread that was given
 * STACK_BYTES for all of it; prints how much of the stack was used.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/targets/callee.h"

static long n_levels;

static void *work(void *arg)
{
	*(long *)arg = callee_down(n_levels);
	return NULL;
}

/* Bytes from the first one that is not zero any more to the end: thread-local data as well. */
static size_t find_used(const char *stack, size_t n_bytes)
{
	size_t first = 0;

	while (first < n_bytes && !stack[first])
		first++;
	return n_bytes - first;
}

int main(int argc, char **argv)
{
	size_t n_bytes = argc > 2 ? (size_t)atol(argv[2]) : 0;
	pthread_attr_t attributes;
	pthread_t thread;
	long sum = 0;
	char *stack;

	if (!n_bytes)
		return 2;
	n_levels = atol(argv[1]);
	stack = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE) ||
	    pthread_attr_init(&attributes) || pthread_attr_setstack(&attributes, stack, n_bytes) ||
	    pthread_create(&thread, &attributes, work, &sum) || pthread_join(thread, NULL))
		return 1;
	printf("%ld\n", sum);
	fprintf(stderr, "%zu bytes\n", find_used(stack + 4096, n_bytes - 4096));
	return 0;
}
