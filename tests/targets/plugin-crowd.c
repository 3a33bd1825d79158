/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plugin-crowd FOLDER N THREADS CALLS: the threads open FOLDER/0.so .. FOLDER/<N-1>.so, each its
 * share, call plugin_work(CALLS) in every one, and close every other one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct share {
	pthread_t thread;
	const char *folder;
	long first, step, n, n_calls;
	long sum, n_failed;
};

static void *run(void *arg)
{
	struct share *share = arg;

	for (long i = share->first; i < share->n; i += share->step) {
		long (*plugin_work)(long);
		char path[4096];
		void *handle;

		snprintf(path, sizeof(path), "%s/%ld.so", share->folder, i);
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
		plugin_work = handle ? (long (*)(long))dlsym(handle, "plugin_work") : NULL;
		if (!plugin_work) {
			share->n_failed++;
			continue;
		}
		share->sum += plugin_work(share->n_calls);
		if (i % 2 && dlclose(handle))
			share->n_failed++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct share shares[64];
	long n_threads = argc > 4 ? atol(argv[3]) : 0;
	long sum = 0, n_failed = 0;

	if (n_threads < 1 || n_threads > 64)
		return 2;
	for (long i = 0; i < n_threads; i++) {
		shares[i] = (struct share){.folder = argv[1],
					   .first = i,
					   .step = n_threads,
					   .n = atol(argv[2]),
					   .n_calls = atol(argv[4])};
		if (pthread_create(&shares[i].thread, NULL, run, &shares[i]))
			return 1;
	}
	for (long i = 0; i < n_threads; i++) {
		(void)pthread_join(shares[i].thread, NULL); /* it is one of ours */
		sum += shares[i].sum;
		n_failed += shares[i].n_failed;
	}
	printf("%ld, %ld failed\n", sum, n_failed);
	return n_failed != 0;
}
