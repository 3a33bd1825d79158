/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plugin-host PLUGIN N [ROUNDS]: dlopen(RTLD_LOCAL), N calls of callee_add inside the plugin and
 * one of plugin_work through dlsym, dlclose; ROUNDS times.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int work(const char *path, long n, long *ret_sum)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	long (*plugin_work)(long);

	if (!handle) {
		printf("dlopen: %s\n", dlerror());
		return 1;
	}
	plugin_work = (long (*)(long))dlsym(handle, "plugin_work");
	if (!plugin_work) {
		printf("dlsym: %s\n", dlerror());
		return 1;
	}
	*ret_sum += plugin_work(n);
	return dlclose(handle);
}

int main(int argc, char **argv)
{
	long n_rounds = argc > 3 ? atol(argv[3]) : 1;
	long sum = 0;
	int rc = argc < 3;

	for (long i = 0; !rc && i < n_rounds; i++)
		rc = work(argv[1], atol(argv[2]), &sum);
	/* A failed lookup says the same with and without a profiler. */
	if (dlopen("libno-such-library.so", RTLD_NOW))
		return 1;
	printf("%ld %s\n", sum, dlerror());
	printf("%s\n", dlerror() ? "a second error" : "no second error");
	return rc;
}
