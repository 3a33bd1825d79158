/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interposing N: the program has a drand48 of its own, without version, as mold and rustc have a
 * malloc. The loader binds a library's reference to libc's version to it; with -DIS_LIBRARY, that
 * library.
 */
#include <stdio.h>
#include <stdlib.h>

double draw(void);

#ifdef IS_LIBRARY
double draw(void)
{
	return drand48();
}
#else
double drand48(void)
{
	return 0.25;
}

int main(int argc, char **argv)
{
	double sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		sum += draw();
	printf("%.6f\n", sum);
	return 0;
}
#endif
