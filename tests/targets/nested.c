/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nested N: GCC's nested functions, called by a library through trampolines on the stack and
 * calling it back: the static chain (r10) must lead to the caller's variables each time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

/* A function two levels down uses the variables of both above it. */
static long count(long n)
{
	long sum = 0, depth = 0;

	void visit(void *arg)
	{
		long *left = arg;
		long here = *left;

		void inner(void *unused)
		{
			(void)unused;
			sum += callee_add((int)here, (int)depth);
		}

		depth++;
		callee_call(inner, NULL);
		if (--*left > 0)
			callee_call(visit, left);
		depth--;
		sum += here; /* of this call, whatever the ones below have done */
	}

	callee_call(visit, &n);
	return sum * 10 + depth;
}

static void sort(long n)
{
	int *values = calloc((size_t)n, sizeof(values[0]));
	long n_compared = 0, n_wrong = 0;

	int compare(const void *a, const void *b)
	{
		n_compared++;
		return callee_add(*(const int *)a, -*(const int *)b);
	}

	for (long i = 0; values && i < n; i++)
		values[i] = (int)(i * 7919 % n);
	if (values)
		qsort(values, (size_t)n, sizeof(values[0]), compare);
	for (long i = 1; values && i < n; i++)
		n_wrong += values[i - 1] > values[i];
	printf("%ld compared, %ld wrong\n", n_compared, n_wrong);
	free(values);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 10;

	printf("%ld\n", count(n));
	sort(n);
	return 0;
}
