/* SPDX-License-Identifier: BSD-3-Clause */
/* A module with a local function, and one that it exports and calls through its own slot too. */
#define EXPORT __attribute__((visibility("default"), noinline))

#include <pthread.h>
#include <unistd.h>

extern volatile int module_sink;
int module_shared(int n);
int module_outer(int n);

volatile int module_sink;

static __attribute__((noinline, noclone)) int module_inner(int n)
{
	module_sink += n;
	return n * 3;
}

EXPORT int module_shared(int n)
{
	module_sink -= n;
	return n + 1;
}

EXPORT int module_outer(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += module_inner(i) + module_shared(i);
	return sum;
}

#ifdef STARTS_THREAD
static void *run(void *arg)
{
	for (;;) {
		module_outer(1000);
		usleep(100);
	}
	return arg;
}

static __attribute__((constructor)) void start(void)
{
	pthread_t id;

	pthread_create(&id, NULL, run, NULL);
}
#endif
