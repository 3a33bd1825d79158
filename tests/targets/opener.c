/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that opens others: they are searched for in its own RUNPATH, not in the program's. */
#include <dlfcn.h>

__attribute__((visibility("default"))) void *opener_open(const char *name);

void *opener_open(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);

	__asm__ volatile("" ::: "memory"); /* no tail call: the loader looks who calls it */
	return handle;
}
