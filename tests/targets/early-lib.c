/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose constructor allocates, maps, writes and starts a thread that goes on calling
 * until early_stop(); and whose destructor does the same things again, and calls callee_add.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/targets/callee.h"

long early_stop(void);

static pthread_t thread;
static atomic_int may_stop;
static atomic_long n_calls;

static void use_libc(const char *text)
{
	char *copy = strdup(text);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!copy || map == MAP_FAILED)
		_exit(1);
	copy = realloc(copy, 4096);
	memcpy(map, copy, strlen(copy));
	if (write(STDOUT_FILENO, map, strlen(map)) < 0 || munmap(map, 4096))
		_exit(1);
	free(copy);
}

static void *keep_calling(void *arg)
{
	while (!may_stop) {
		char *volatile piece = malloc(64);

		n_calls += callee_add(0, 1);
		free(piece);
	}
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	use_libc("constructor\n");
	if (pthread_create(&thread, NULL, keep_calling, NULL))
		_exit(1);
}

__attribute__((destructor)) static void end(void)
{
	use_libc("destructor\n");
	for (int i = 0; i < 100; i++)
		n_calls += callee_add(0, 1);
}

long early_stop(void)
{
	may_stop = 1;
	if (pthread_join(thread, NULL))
		_exit(1);
	return n_calls;
}
