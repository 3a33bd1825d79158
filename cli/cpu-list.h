/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of CPUs, "0,2-4": numbers as the kernel has them, in the order given.
 *
 *	rc = cm_cpu_list_parse(&list, "0,2-4");
 *	cm_cpu_list_format(text, sizeof(text), &set);
 *
 * Threads: any. Errors: -EINVAL for what is no such list (it may be an expression of LIKWID's),
 * -EEXIST when a CPU is named twice, -ERANGE for a number that no CPU can have.
 */
#ifndef CALLMARK_CLI_CPU_LIST_H
#define CALLMARK_CLI_CPU_LIST_H

#include <sched.h>
#include <stddef.h>

struct cm_cpu_list {
	unsigned short cpus[CPU_SETSIZE];
	size_t n;
	cpu_set_t set;
};

int cm_cpu_list_parse(struct cm_cpu_list *list, const char *text);

/* Ascending, ranges joined; cut where it does not fit. */
void cm_cpu_list_format(char *buf, size_t n_bytes, const cpu_set_t *set);

#endif
