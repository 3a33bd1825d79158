/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin that brings libcallee.so along: neither is in the global scope of its host. */
#include "tests/targets/callee.h"

__attribute__((visibility("default"))) long plugin_work(long n);

long plugin_work(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)i, 1);
	return sum;
}
