/* SPDX-License-Identifier: BSD-3-Clause */
/* first-calls N: N threads make the first call of one lazily bound function after another at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

static pthread_barrier_t barrier;

static void at_once(void)
{
	(void)pthread_barrier_wait(&barrier);
}

static void *call_each(void *arg)
{
	long *sum = arg;

	at_once();
	*sum = callee_add(1, 2);
	at_once();
	*sum += callee_factorial(4);
	at_once();
	*sum += callee_fill_pair(*sum, 1.0).integer;
	at_once();
	*sum += callee_down(3);
	at_once();
	*sum += (long)callee_long_double(2.0L, 3, 0.5L);
	at_once();
	*sum += callee_fill_large(*sum).values[6];
	at_once();
	*sum += (long)callee_variadic(1, 2, 3, 4, 5, 6, 2, 1.0, 2.0);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int n = argc > 1 ? (unsigned int)atoi(argv[1]) : 1;
	pthread_t *threads = calloc(n, sizeof(*threads));
	long *sums = calloc(n, sizeof(*sums));
	long sum = 0;

	if (!threads || !sums || pthread_barrier_init(&barrier, NULL, n))
		return 1;
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, call_each, &sums[i]))
			return 1;
	for (unsigned int i = 0; i < n; i++) {
		(void)pthread_join(threads[i], NULL); /* it is one of ours */
		sum += sums[i];
	}
	printf("%ld\n", sum);
	free(threads);
	free(sums);
	return 0;
}
