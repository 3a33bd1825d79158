/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is freed all at once: strings and tables that live as long as one spool's profile.
 *
 *	struct cm_arena arena = {0};
 *	rows = cm_arena_array(&arena, n, sizeof(*rows));
 *	cm_arena_fini(&arena);
 *
 * Threads: one at a time. Errors: NULL when memory is short; nothing else can fail.
 */
#ifndef CALLMARK_COLLECTOR_ARENA_H
#define CALLMARK_COLLECTOR_ARENA_H

#include <stddef.h>

struct cm_arena_block;

struct cm_arena {
	struct cm_arena_block *blocks;
};

/* n times size bytes, zeroed, 16-aligned, never NULL for n == 0; NULL: no memory or overflow. */
void *cm_arena_array(struct cm_arena *arena, size_t n, size_t size);

/* A NUL-terminated copy of n_bytes bytes of text. */
char *cm_arena_copy(struct cm_arena *arena, const char *text, size_t n_bytes);

/* printf into the arena. */
char *cm_arena_format(struct cm_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void cm_arena_fini(struct cm_arena *arena);

#endif
