/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the rules module share: an allocator that can be emptied or made to fail, and
 * a parse of a literal text. Each test ends with arena_release().
 */
#ifndef CALLMARK_TESTS_TEST_PRELOAD_RULES_H
#define CALLMARK_TESTS_TEST_PRELOAD_RULES_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "preload/rules.h"

struct arena {
	void *blocks[64];
	unsigned int n_blocks;
	unsigned int n_allowed; /* allocations before the first failure; 0: no limit */
};

static inline void *arena_alloc(void *ctx, size_t n_bytes)
{
	struct arena *arena = ctx;

	if (arena->n_allowed && arena->n_blocks == arena->n_allowed)
		return NULL;
	cr_assert_lt(arena->n_blocks, 64u);
	arena->blocks[arena->n_blocks] = calloc(1, n_bytes);
	return arena->blocks[arena->n_blocks++];
}

static inline void arena_release(struct arena *arena)
{
	while (arena->n_blocks)
		free(arena->blocks[--arena->n_blocks]);
}

/* Parse a C string, which is copied to the heap without its NUL, so that ASan sees every byte. */
static inline int parse_text(struct arena *arena, struct cm_rules *rules, const char *text,
			     const char *name, struct cm_diag *diag)
{
	struct cm_rules_alloc alloc = {arena_alloc, arena};
	size_t n = strlen(text);
	char *copy = malloc(n + !n);
	int rc;

	cr_assert_not_null(copy);
	memcpy(copy, text, n);
	rc = cm_rules_parse(rules, copy, n, name, &alloc, diag);
	free(copy);
	return rc;
}

/* Parse a file that must be good. */
static inline struct cm_rules parse_good(struct arena *arena, const char *text)
{
	struct cm_rules rules = {0};
	struct cm_diag diag = {0};
	int rc = parse_text(arena, &rules, text, "rules.txt", &diag);

	cr_assert_eq(rc, 0, "%d %s", rc, diag.text);
	cr_assert_str_empty(diag.text);
	return rules;
}

#endif
