/* SPDX-License-Identifier: BSD-3-Clause */
/* Unique group names for tags. */
#include "writer/region-name.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/utf8.h"

#define N_SUFFIX 24 /* "#" and a size_t */

/* Open addressing over the names so far; a slot holds 1 + index, 0 is free. */
struct name_set {
	char **names;
	size_t *slots;
	size_t *n_used; /* by name index: the last suffix given to this base name */
	size_t mask;
};

static uint64_t hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h ^ h >> 32;
}

/* The slot of this name, or the free one where it belongs. */
static size_t *find_slot(const struct name_set *set, const char *name)
{
	size_t i = hash(name) & set->mask;

	while (set->slots[i] && strcmp(set->names[set->slots[i] - 1], name) != 0)
		i = (i + 1) & set->mask;
	return &set->slots[i];
}

/* A new string with room for a suffix, or NULL. */
static char *base_name(const char *tag)
{
	char *clean, *name;
	size_t n;

	if (strcmp(tag, "") == 0 || strcmp(tag, ".") == 0)
		tag = *tag ? "(dot)" : "(empty)";
	if (cm_utf8_clean(tag, &clean) < 0)
		return NULL;
	if (clean)
		tag = clean;
	n = strlen(tag);
	if (n > CM_REGION_NAME_BYTES) {
		n = CM_REGION_NAME_BYTES;
		while ((tag[n] & 0xc0) == 0x80) /* tag is valid: back to a character's start */
			n--;
	}
	name = malloc(n + N_SUFFIX);
	if (name) {
		memcpy(name, tag, n);
		name[n] = '\0';
		for (char *c = name; *c; c++)
			if (*c == '/')
				*c = '|';
	}
	free(clean);
	return name;
}

/* Make names[i] unique among the earlier ones and add it. */
static void add(struct name_set *set, size_t i)
{
	char *name = set->names[i], *suffix = name + strlen(name);
	size_t *slot = find_slot(set, name), first;

	if (*slot) {
		first = *slot - 1;
		do
			snprintf(suffix, N_SUFFIX, "#%zu", ++set->n_used[first] + 1);
		while (*(slot = find_slot(set, name)));
	}
	*slot = i + 1;
}

int cm_region_names_new(const char *(*tag)(const void *ctx, size_t i), const void *ctx, size_t n,
			char ***ret_names)
{
	struct name_set set = {.mask = 15};
	int rc = -ENOMEM;

	while (set.mask / 2 < n)
		set.mask = set.mask * 2 + 1;
	set.names = calloc(n + 1, sizeof(*set.names));
	set.n_used = calloc(n + 1, sizeof(*set.n_used));
	set.slots = calloc(set.mask + 1, sizeof(*set.slots));
	if (!set.names || !set.n_used || !set.slots)
		goto out;
	for (size_t i = 0; i < n; i++) {
		set.names[i] = base_name(tag(ctx, i));
		if (!set.names[i])
			goto out;
		add(&set, i);
	}
	*ret_names = set.names;
	set.names = NULL;
	rc = 0;
out:
	cm_region_names_free(set.names, n);
	free(set.n_used);
	free(set.slots);
	return rc;
}

void cm_region_names_free(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}
