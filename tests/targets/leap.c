/* SPDX-License-Identifier: BSD-3-Clause */
/* leap N: N longjmps out of callee_leap under callee_call, and N calls that return. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

static jmp_buf out;

static void leap(void *arg)
{
	callee_leap(out, *(int *)arg);
}

int main(int argc, char **argv)
{
	volatile long n_left = argc > 1 ? atol(argv[1]) : 1;
	volatile long n_jumps = 0;
	volatile long sum = 0;
	int value = 42;

	while (n_left-- > 0) {
		if (setjmp(out) == 0)
			callee_call(leap, &value);
		else
			n_jumps++;
		sum += callee_add(1, 1);
	}
	printf("%ld jumps, sum %ld\n", n_jumps, sum);
	return 0;
}
