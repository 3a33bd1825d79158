/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plugin that brings libcallee.so along: neither is in the global scope of its host. Its
 * constructor uses the loader itself, as plugins do that register what they find.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "tests/targets/callee.h"

__attribute__((visibility("default"))) long plugin_work(long n);

static int (*found)(int, int);

__attribute__((constructor)) static void start(void)
{
	void *handle = dlopen("libcallee.so", RTLD_LAZY | RTLD_NOLOAD);

	if (!handle)
		return;
	found = (int (*)(int, int))dlsym(handle, "callee_add");
	(void)dlclose(handle); /* it is needed, and stays */
}

long plugin_work(long n)
{
	long sum = found ? 0 : -1;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)i, 1);
	return sum;
}
