/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N calls of versioned_value, as USER() or, without USER, as a program that also runs the two
 * others: libversion-old.so asks for version V1, libversion-plain.so for none.
 */
#include <stdio.h>
#include <stdlib.h>

int versioned_value(void);
int version_old(long n);
int version_plain(long n);

#ifdef WANTED
__asm__(".symver versioned_value, versioned_value@" WANTED);
#endif

#ifdef USER
__attribute__((visibility("default"))) int USER(long n)
#else
static int version_new(long n)
#endif
{
	int sum = 0;

	for (long i = 0; i < n; i++)
		sum += versioned_value();
	return sum;
}

#ifndef USER
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	printf("new %d, old %d, plain %d\n", version_new(n), version_old(n), version_plain(n));
	return 0;
}
#endif
