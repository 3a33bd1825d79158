/* SPDX-License-Identifier: BSD-3-Clause */
/* A module with a local function, and one that it exports and calls through its own slot too. */
#define EXPORT __attribute__((visibility("default"), noinline))

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern volatile int module_sink;
int module_shared(int n);
int module_outer(int n);
int module_write(int unused);

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

#ifdef WRITES_CODE
/* As code that changes itself does: it may be written from its constructor on. */
static __attribute__((constructor)) void open_code(void)
{
	uintptr_t page = (uintptr_t)module_outer & ~(uintptr_t)4095;

	if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		abort();
}

EXPORT int module_write(int unused)
{
	volatile unsigned char *last = (volatile unsigned char *)((uintptr_t)module_outer | 4095);

	(void)unused;
	*last = 0x90;
	return *last;
}
#endif

#ifdef STARTS_THREAD
#ifdef HANDLES_SIGNALS
static void handle(int number)
{
	module_sink = module_inner(number);
}
#endif

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

#ifdef HANDLES_SIGNALS
	signal(SIGUSR2, handle);
#endif
	pthread_create(&id, NULL, run, NULL);
}
#endif
