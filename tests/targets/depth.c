/* SPDX-License-Identifier: BSD-3-Clause */
/* depth N: N + 1 calls open at once, three times over. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	printf("%ld\n", callee_down(n) + callee_down(n) + callee_down(n));
	return 0;
}
