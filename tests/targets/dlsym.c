/* SPDX-License-Identifier: BSD-3-Clause */
/* dlsym LIBRARY N: N calls of callee_add through a pointer that dlsym gave, none through a PLT. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *handle = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*add)(int, int);
	long sum = 0;

	if (!handle)
		return 1;
	add = (int (*)(int, int))dlsym(handle, "callee_add");
	if (!add)
		return 1;
	for (long i = 0; i < atol(argv[2]); i++)
		sum += add((int)i, 1);
	/* In the wrong scope the name is not there, whoever asks. */
	printf("%ld %s\n", sum, dlsym(RTLD_DEFAULT, "callee_add") ? "global" : "local");
	return dlsym(handle, "callee_no_such_function") != NULL;
}
