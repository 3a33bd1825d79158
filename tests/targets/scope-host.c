/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scope-host PLUGIN N [deep]: opens the plugin RTLD_LOCAL and lazily, perhaps with RTLD_DEEPBIND,
 * and prints N times which scope_value it and its helper found. With IS_DEFINER the program has
 * one too, in the global scope.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef IS_DEFINER
__attribute__((visibility("default"))) int scope_value(void);

int scope_value(void)
{
	return 1;
}
#endif

int main(int argc, char **argv)
{
	int flags = RTLD_LAZY | RTLD_LOCAL | (argc > 3 ? RTLD_DEEPBIND : 0);
	void *handle = argc > 2 ? dlopen(argv[1], flags) : NULL;
	int (*own)(void) = handle ? (int (*)(void))dlsym(handle, "scope_own") : NULL;
	long sum = 0;

	if (!own) {
		printf("%s\n", dlerror());
		return 1;
	}
	for (long i = 0; i < atol(argv[2]); i++)
		sum += own();
	printf("%ld\n", sum);
	return dlclose(handle);
}
