/* SPDX-License-Identifier: BSD-3-Clause */
/* interposed N: prints the sum of N numbers from drand48: libc's, or those of an interposer. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	double sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		sum += drand48();
	printf("%.6f\n", sum);
	return 0;
}
