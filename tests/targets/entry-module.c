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
/* A worker: busy all the time; or it looks for work for a while, and then sleeps until it is woken.
 */
static void *run(void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t work = PTHREAD_COND_INITIALIZER;

	for (int i = 0; STARTS_THREAD == 1 || i < 20; i++) {
		for (int k = 0; k < 1000; k++)
			module_inner(k);
		usleep(100);
	}
	pthread_mutex_lock(&lock);
	for (;;)
		pthread_cond_wait(&work, &lock);
	return arg;
}

static __attribute__((constructor)) void start(void)
{
	pthread_t id;

	pthread_create(&id, NULL, run, NULL);
}
#endif
