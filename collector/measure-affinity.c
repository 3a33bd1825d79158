/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel says -EINVAL while the mask is smaller than its own. */
#include "collector/measure-affinity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_CPUS 1024
#define MAX_CPUS (1 << 20)

int cm_affinity_get(struct cm_affinity *affinity)
{
	for (int n = FIRST_CPUS; n <= MAX_CPUS; n *= 2) {
		size_t n_bytes = CPU_ALLOC_SIZE((size_t)n);
		cpu_set_t *set = calloc(1, n_bytes);
		int rc;

		if (!set)
			return -ENOMEM;
		if (sched_getaffinity(0, n_bytes, set) == 0) {
			affinity->set = set;
			affinity->n_bytes = n_bytes;
			return 0;
		}
		rc = -errno;
		free(set);
		if (rc != -EINVAL)
			return rc;
	}
	return -E2BIG;
}

void cm_affinity_fini(struct cm_affinity *affinity)
{
	free(affinity->set);
	affinity->set = NULL;
	affinity->n_bytes = 0;
}

bool cm_affinity_has(const struct cm_affinity *affinity, int cpu)
{
	return cpu >= 0 && (size_t)cpu < affinity->n_bytes * 8 &&
	       CPU_ISSET_S((size_t)cpu, affinity->n_bytes, affinity->set);
}

size_t cm_affinity_count(const struct cm_affinity *affinity)
{
	return (size_t)CPU_COUNT_S(affinity->n_bytes, affinity->set);
}

void cm_affinity_list(const struct cm_affinity *affinity, int *cpus)
{
	for (int cpu = 0; (size_t)cpu < affinity->n_bytes * 8; cpu++) {
		if (cm_affinity_has(affinity, cpu))
			*cpus++ = cpu;
	}
}

void cm_affinity_format(const struct cm_affinity *affinity, char *buf, size_t n_bytes)
{
	size_t n = 0;

	*buf = '\0';
	for (int cpu = 0; (size_t)cpu < affinity->n_bytes * 8 && n < n_bytes; cpu++) {
		int first = cpu;

		if (!cm_affinity_has(affinity, cpu))
			continue;
		while (cm_affinity_has(affinity, cpu + 1))
			cpu++;
		n += (size_t)snprintf(buf + n, n_bytes - n, "%s%d", n ? "," : "", first);
		if (cpu > first && n < n_bytes)
			n += (size_t)snprintf(buf + n, n_bytes - n, "-%d", cpu);
	}
}

int cm_affinity_restore(const struct cm_affinity *affinity)
{
	struct cm_affinity now;
	int rc = cm_affinity_get(&now);
	bool is_same;

	if (rc < 0)
		return rc;
	is_same = now.n_bytes == affinity->n_bytes &&
		  CPU_EQUAL_S(now.n_bytes, now.set, affinity->set);
	cm_affinity_fini(&now);
	if (is_same)
		return 0;
	return sched_setaffinity(0, affinity->n_bytes, affinity->set) < 0 ? -errno : 1;
}
