/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of 64 KiB, larger requests in their own block. */
#include "collector/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CM_SMALL_PIECES /* fuzzers: an end that AddressSanitizer watches for each array */
#define BLOCK_BYTES ((size_t)1)
#else
#define BLOCK_BYTES ((size_t)64 << 10)
#endif
#define ALIGN_BYTES ((size_t)16)

struct cm_arena_block {
	struct cm_arena_block *next;
	size_t n_used;
	size_t n_bytes;
	size_t reserved; /* keeps data 16-aligned */
	char data[];
};
_Static_assert(sizeof(struct cm_arena_block) % 16 == 0, "data stays aligned");

static struct cm_arena_block *add_block(struct cm_arena *arena, size_t n_bytes)
{
	size_t data_bytes = n_bytes > BLOCK_BYTES ? n_bytes : BLOCK_BYTES;
	struct cm_arena_block *block;

	/* calloc: large blocks come as fresh zero pages, untouched until they are used. */
	block = calloc(1, sizeof(*block) + data_bytes);
	if (!block)
		return NULL;
	block->n_bytes = data_bytes;
	if (n_bytes > BLOCK_BYTES / 2 && arena->blocks) {
		/* Behind the current block, whose free part stays in use. */
		block->next = arena->blocks->next;
		arena->blocks->next = block;
	} else {
		block->next = arena->blocks;
		arena->blocks = block;
	}
	return block;
}

void *cm_arena_array(struct cm_arena *arena, size_t n, size_t size)
{
	struct cm_arena_block *block = arena->blocks;
	size_t n_bytes;
	void *data;

	if (__builtin_mul_overflow(n, size, &n_bytes) || n_bytes > SIZE_MAX / 2)
		return NULL;
	n_bytes = (n_bytes + ALIGN_BYTES) & ~(ALIGN_BYTES - 1);
	if (!block || block->n_bytes - block->n_used < n_bytes) {
		block = add_block(arena, n_bytes);
		if (!block)
			return NULL;
	}
	data = block->data + block->n_used;
	block->n_used += n_bytes;
	return data;
}

char *cm_arena_copy(struct cm_arena *arena, const char *text, size_t n_bytes)
{
	char *copy = cm_arena_array(arena, n_bytes + 1, 1);

	if (copy)
		memcpy(copy, text, n_bytes);
	return copy;
}

char *cm_arena_format(struct cm_arena *arena, const char *format, ...)
{
	char *text = NULL, *copy = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		return NULL;
	copy = cm_arena_copy(arena, text, (size_t)n);
	free(text);
	return copy;
}

void cm_arena_fini(struct cm_arena *arena)
{
	while (arena->blocks) {
		struct cm_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}
