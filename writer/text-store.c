/* SPDX-License-Identifier: BSD-3-Clause */
/* Bump allocator with a limit. */
#include "writer/text-store.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#ifdef CM_SMALL_PIECES /* fuzzers: an end that AddressSanitizer watches for each text */
#define BLOCK_BYTES ((size_t)1)
#else
#define BLOCK_BYTES ((size_t)64 << 10)
#endif
#define ALIGNMENT 16

struct cm_text_block {
	struct cm_text_block *next;
	size_t n_bytes;
	alignas(ALIGNMENT) char bytes[];
};

void cm_text_store_init(struct cm_text_store *store, size_t limit_bytes)
{
	*store = (struct cm_text_store){.n_left = limit_bytes};
}

void cm_text_store_fini(struct cm_text_store *store)
{
	struct cm_text_block *block = store->blocks;

	while (block) {
		struct cm_text_block *next = block->next;

		free(block);
		block = next;
	}
	*store = (struct cm_text_store){0};
}

static struct cm_text_block *add_block(struct cm_text_store *store, size_t n_bytes)
{
	size_t n_all = n_bytes < BLOCK_BYTES ? BLOCK_BYTES : n_bytes;
	struct cm_text_block *block = malloc(sizeof(*block) + n_all);

	if (!block)
		return NULL;
	block->n_bytes = n_all;
	block->next = store->blocks;
	store->blocks = block;
	store->n_used = 0;
	return block;
}

void *cm_text_store_alloc(struct cm_text_store *store, size_t n, size_t size)
{
	struct cm_text_block *block = store->blocks;
	size_t n_bytes;
	char *bytes;

	if (__builtin_mul_overflow(n, size, &n_bytes) || n_bytes > store->n_left)
		return NULL;
	n_bytes = (n_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!block || n_bytes > block->n_bytes - store->n_used)
		block = add_block(store, n_bytes);
	if (!block)
		return NULL;
	store->n_left -= n_bytes < store->n_left ? n_bytes : store->n_left;
	bytes = block->bytes + store->n_used;
	store->n_used += n_bytes;
	return memset(bytes, 0, n_bytes);
}

char *cm_text_store_copy(struct cm_text_store *store, const char *text, size_t n_bytes)
{
	char *copy = cm_text_store_alloc(store, n_bytes + 1, 1);

	return copy ? memcpy(copy, text, n_bytes) : NULL;
}
