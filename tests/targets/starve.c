/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starve WHAT N M: N calls of callee_add, then the process takes away from itself all further
 * descriptors or all further memory (WHAT), then M more calls in this and in a second thread.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/targets/callee.h"

static long n_later;
static pthread_barrier_t starved;

static long add(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)(i % 10), 1);
	return sum;
}

static void *add_later(void *arg)
{
	(void)pthread_barrier_wait(&starved); /* its return value only elects a thread */
	*(long *)arg = add(n_later);
	return NULL;
}

static int starve(const char *what)
{
	struct rlimit memory;

	if (!strcmp(what, "memory")) {
		if (getrlimit(RLIMIT_AS, &memory))
			return 1;
		memory.rlim_cur = 1;
		return setrlimit(RLIMIT_AS, &memory);
	}
	if (strcmp(what, "descriptors"))
		return 1;
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		; /* until there are no more */
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long sum, other = 0;

	if (argc < 4)
		return 2;
	n_later = atol(argv[3]);
	printf("started\n");
	if (pthread_barrier_init(&starved, NULL, 2) ||
	    pthread_create(&thread, NULL, add_later, &other))
		return 1;
	sum = add(atol(argv[2]));
	if (starve(argv[1]))
		return 1;
	(void)pthread_barrier_wait(&starved); /* as above */
	sum += add(n_later);
	if (pthread_join(thread, NULL))
		return 1;
	printf("%ld\n", sum + other);
	return 4;
}
