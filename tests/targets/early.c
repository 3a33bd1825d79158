/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early N FILE: N calls of callee_add beside those of libearly's thread; FILE gets the number of
 * all calls up to then. Its destructor makes 100 more.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

long early_stop(void);

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[1]) : 0;
	long sum = 0;
	FILE *file;

	for (long i = 0; i < n; i++)
		sum += callee_add(0, 1);
	printf("%ld\n", sum);
	file = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!file)
		return 1;
	fprintf(file, "%ld\n", sum + early_stop());
	return fclose(file) != 0;
}
