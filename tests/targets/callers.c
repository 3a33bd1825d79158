/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callers N: N times sixty arguments from a plain caller, from one whose frame has no fixed size,
 * and by a tail call; exit status 1 if a value is wrong. Built with and without frame pointer,
 * unwind tables and optimization: the thunk learns from those how many words to copy.
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/targets/callee.h"

#define TEN(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
#define PARAMETERS(n)                                                                           \
	long n##0, long n##1, long n##2, long n##3, long n##4, long n##5, long n##6, long n##7, \
		long n##8, long n##9
#define NUMBERS 1, 2, 3, 4, 5, 6, 7, 8, 9, TEN(1), TEN(2), TEN(3), TEN(4), TEN(5)
#define EXPECTED 71980 /* sum of k * (k + 1) for k = 0..59 */

__attribute__((noinline)) static long plainly(long i)
{
	return callee_sixty(i, NUMBERS) + 1;
}

__attribute__((noinline)) static long from_a_growing_frame(long i)
{
	size_t n_bytes = 16 + (size_t)(i % 50) * 24;
	char *room = alloca(n_bytes);

	memset(room, 1, n_bytes);
	return callee_sixty(i, NUMBERS) + room[n_bytes - 1];
}

__attribute__((noinline)) static long as_the_last_thing(PARAMETERS(a), PARAMETERS(b), PARAMETERS(c),
							PARAMETERS(d), PARAMETERS(e), PARAMETERS(f))
{
	return callee_sixty(TEN(a), TEN(b), TEN(c), TEN(d), TEN(e), TEN(f));
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long n_wrong = 0;

	for (long i = 0; i < n; i++) {
		n_wrong += plainly(i) != EXPECTED + i + 1;
		n_wrong += from_a_growing_frame(i) != EXPECTED + i + 1;
		n_wrong += as_the_last_thing(i, NUMBERS) != EXPECTED + i;
	}
	printf("%ld wrong\n", n_wrong);
	return n_wrong != 0;
}
