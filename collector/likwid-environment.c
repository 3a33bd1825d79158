/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/likwid-environment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int cm_likwid_parse_cpus(const char *text, int *ret_cpus, size_t n_max)
{
	size_t n = 0;

	for (;; text++) {
		char *end;
		long cpu;

		if (*text < '0' || *text > '9')
			return -EINVAL;
		cpu = strtol(text, &end, 10);
		if (cpu > INT_MAX || (*end && *end != ','))
			return -EINVAL;
		if (n == n_max)
			return -E2BIG;
		ret_cpus[n++] = (int)cpu;
		text = end;
		if (!*text)
			return (int)n;
	}
}

size_t cm_likwid_count_groups(const char *events)
{
	size_t n = events && *events;

	for (; events && *events; events++)
		n += *events == '|';
	return n;
}

int cm_likwid_get_group(const char *events, size_t idx, char *buf, size_t n_bytes)
{
	size_t n;

	if (idx >= cm_likwid_count_groups(events))
		return -ENOENT;
	for (; idx; events++)
		idx -= *events == '|';
	n = strcspn(events, "|");
	if (n >= n_bytes)
		return -E2BIG;
	memcpy(buf, events, n);
	buf[n] = '\0';
	return (int)n;
}

bool cm_likwid_is_custom(const char *group)
{
	return strchr(group, ':') != NULL;
}

static bool is_word(const char *text, size_t n)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_";

	return n > 0 && strspn(text, allowed) >= n;
}

/* EVENT:COUNTER, then options (KEY or KEY=VALUE) after further colons. */
static bool is_pair(const char *text, size_t n)
{
	size_t n_event = strcspn(text, ":,"), n_counter;

	if (n_event >= n || !is_word(text, n_event))
		return false;
	text += n_event + 1;
	n -= n_event + 1;
	n_counter = strcspn(text, ":,");
	if (n_counter > n)
		n_counter = n;
	if (!is_word(text, n_counter))
		return false;
	for (size_t i = n_counter; i < n; i++) {
		if (text[i] <= ' ' || text[i] == '-' || text[i] == '.' ||
		    (text[i] == ':' && (i + 1 == n || text[i + 1] == ':')))
			return false;
	}
	return true;
}

bool cm_likwid_is_sound(const char *group)
{
	if (!cm_likwid_is_custom(group))
		return is_word(group, strlen(group));
	for (;; group++) {
		size_t n = strcspn(group, ",");

		if (!is_pair(group, n))
			return false;
		group += n;
		if (!*group)
			return true;
	}
}
