/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running callmark-reader: in a process group of its own, with a time limit, without our
 * descriptors; only its last line on stderr is kept.
 *
 *	struct cm_counters_run run = {.argv = argv, .envp = envp, .timeout_s = 120};
 *	cm_counters_run(&run);
 *	cm_counters_run_explain(&run, buf, sizeof(buf));
 *
 * Threads: any; it allocates nothing and shares nothing. Nothing can fail that is not told in run.
 */
#ifndef CALLMARK_COLLECTOR_COUNTERS_RUN_H
#define CALLMARK_COLLECTOR_COUNTERS_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct cm_counters_run {
	char *const *argv; /* argv[0]: path of the reader */
	char *const *envp;
	unsigned int timeout_s;
	atomic_bool is_cancelled; /* set by another thread: kill it now */
	/* What came of it. */
	int error; /* errno of starting it; 0: it ran */
	int wait_status;
	bool is_timeout; /* it was killed */
	char line[256];	 /* "" for none; printable */
};

void cm_counters_run(struct cm_counters_run *run);

/* Why there is no result, in one line; returns buf. */
const char *cm_counters_run_explain(const struct cm_counters_run *run, char *buf, size_t n_bytes);

#endif
