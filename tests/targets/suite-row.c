/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker whose own file name says what it does, so that the rows of one suite can do different
 * things: fails-in-setup.so, crashes-in-workload.so, hangs-in-setup.so, fills-in-workload.so (the
 * disk of its own folder), fails-in-cleanup.so... Any other name: all is well.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callmark/worker.h>

CM_WORKER_EXPORT int is_right(void *state, void *result);
CM_WORKER_EXPORT int is_never_right(void *state, void *result);
CM_WORKER_EXPORT int holds(void *state);
CM_WORKER_EXPORT int is_missed(void *state);

static int answer;

static bool is_named(const char *what, const char *where)
{
	static const char own_symbol;
	char name[64];
	Dl_info info;

	if (!dladdr(&own_symbol, &info))
		return false;
	snprintf(name, sizeof(name), "/%s-in-%s.so", what, where);
	return strstr(info.dli_fname, name) != NULL;
}

/* The disk of the working directory, which is the object's, down to the last byte. */
static void fill(void)
{
	static char zeros[4096];
	int fd = open("filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	for (size_t n = sizeof(zeros); n; n /= 2)
		while (write(fd, zeros, n) > 0)
			continue;
	close(fd);
}

static int do_as_named(const char *where)
{
	if (is_named("fills", where))
		fill();
	if (is_named("crashes", where))
		abort();
	if (is_named("hangs", where))
		pause();
	if (is_named("exits", where))
		_exit(0);
	if (is_named("talks", where))
		printf("a line <&> of the worker\n");
	return is_named("fails", where) ? 3 : 0;
}

int perf_setup(void **ret_state)
{
	*ret_state = &answer;
	return do_as_named("setup");
}

int perf_workload(void *state, void **ret_result)
{
	*(int *)state = 42;
	*ret_result = state;
	return do_as_named("workload");
}

int perf_cleanup(void *state)
{
	(void)state;
	return do_as_named("cleanup");
}

int is_right(void *state, void *result)
{
	return result == state && *(int *)result == 42 ? 0 : 1;
}

int is_never_right(void *state, void *result)
{
	(void)state;
	(void)result;
	return 1;
}

int holds(void *state)
{
	(void)state;
	return 0;
}

int is_missed(void *state)
{
	(void)state;
	return 1;
}
