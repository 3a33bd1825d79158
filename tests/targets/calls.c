/* SPDX-License-Identifier: BSD-3-Clause */
/* calls N: N calls of callee_add from a loop. Linked lazily, with -z now and with -fno-plt. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)(i % 100), 1);
	printf("%ld\n", sum);
	return 0;
}
