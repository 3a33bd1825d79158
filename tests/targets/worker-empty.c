/* SPDX-License-Identifier: BSD-3-Clause */
/* An object that is no worker: it has nothing to measure, and notes where it was loaded. */
#include <stdio.h>
#include <stdlib.h>

#include <callmark/worker.h>

__attribute__((constructor)) static void at_load(void)
{
	const char *path = getenv("WORKER_LOG");
	FILE *log = path ? fopen(path, "ae") : NULL;

	if (log) {
		fputs("loaded\n", log);
		fclose(log);
	}
}

int perf_setup(void **ret_state)
{
	(void)ret_state;
	abort();
}
