/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the process of a spool still live? Asked of /proc, by pid and start time: a pid is used
 * again sooner or later.
 *
 * Threads: any. Nothing can fail: in doubt a process lives.
 */
#ifndef CALLMARK_COLLECTOR_LIVENESS_H
#define CALLMARK_COLLECTOR_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

/* "<pid>-<start ns, hex>", the name of a process's spool. */
bool cm_liveness_parse(const char *name, uint64_t *ret_pid, uint64_t *ret_start_ns);

/*
 * Has /proc/<pid> a process that had started by start_ns (CLOCK_MONOTONIC, when our preload
 * started in it), give or take the kernel's clock ticks? One that only waits to be reaped is dead.
 */
bool cm_liveness_is_alive(uint64_t pid, uint64_t start_ns);

#endif
