/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin whose constructor calls libcallee, which the program has too. The plugin's own calls are
 * not intercepted before dlopen returns; those of callee_step, within libcallee, are.
 */
#include "tests/targets/callee.h"

static volatile long kept;

__attribute__((noinline)) static long begin(int n)
{
	long product = callee_factorial(n);

	__asm__ volatile("" ::: "memory"); /* it returns here */
	return product;
}

__attribute__((constructor)) static void start(void)
{
	kept = begin(2); /* one call of callee_step */
}
