/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs. */
#include "cli/cpu-list.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse_number(const char **text, unsigned *ret_value)
{
	unsigned value = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		if (value < CPU_SETSIZE)
			value = 10 * value + (unsigned)(**text - '0');
	*ret_value = value;
	return 0;
}

static int add_range(struct cm_cpu_list *list, unsigned first, unsigned last)
{
	int step = first <= last ? 1 : -1;

	if (first >= CPU_SETSIZE || last >= CPU_SETSIZE)
		return -ERANGE;
	for (unsigned cpu = first;; cpu += (unsigned)step) {
		if (CPU_ISSET(cpu, &list->set))
			return -EEXIST;
		CPU_SET(cpu, &list->set);
		list->cpus[list->n++] = (unsigned short)cpu;
		if (cpu == last)
			return 0;
	}
}

int cm_cpu_list_parse(struct cm_cpu_list *list, const char *text)
{
	list->n = 0;
	CPU_ZERO(&list->set);
	for (;; text++) {
		unsigned first, last;
		int rc = parse_number(&text, &first);

		last = first;
		if (!rc && *text == '-') {
			text++;
			rc = parse_number(&text, &last);
		}
		if (!rc && *text && *text != ',')
			rc = -EINVAL;
		if (!rc)
			rc = add_range(list, first, last);
		if (rc < 0 || !*text)
			return rc;
	}
}

void cm_cpu_list_format(char *buf, size_t n_bytes, const cpu_set_t *set)
{
	size_t n = 0;

	buf[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE && n < n_bytes; cpu++) {
		int first = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
			cpu++;
		n += (size_t)snprintf(buf + n, n_bytes - n, "%s%d", n ? "," : "", first);
		if (cpu > first && n < n_bytes)
			n += (size_t)snprintf(buf + n, n_bytes - n, "-%d", cpu);
	}
}
