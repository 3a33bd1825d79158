/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling thread's CPU affinity, however many CPUs the kernel knows.
 *
 *	rc = cm_affinity_get(&affinity);
 *	cm_affinity_has(&affinity, 3);
 *	cm_affinity_restore(&affinity);      where it was changed meanwhile
 *	cm_affinity_fini(&affinity);
 *
 * Threads: each its own. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_MEASURE_AFFINITY_H
#define CALLMARK_COLLECTOR_MEASURE_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

struct cm_affinity {
	cpu_set_t *set; /* owned */
	size_t n_bytes;
};

int cm_affinity_get(struct cm_affinity *affinity);
void cm_affinity_fini(struct cm_affinity *affinity);

bool cm_affinity_has(const struct cm_affinity *affinity, int cpu);
size_t cm_affinity_count(const struct cm_affinity *affinity);

/* The CPUs, ascending; room for cm_affinity_count(). */
void cm_affinity_list(const struct cm_affinity *affinity, int *cpus);

/* "0-3,8"; cut where it does not fit. */
void cm_affinity_format(const struct cm_affinity *affinity, char *buf, size_t n_bytes);

/* Put it back where the thread's is another one now. 1: it was another; 0: it was not. */
int cm_affinity_restore(const struct cm_affinity *affinity);

#endif
