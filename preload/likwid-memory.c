/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for liblikwid: powers of two from an area of our own.
 *
 * LIKWID allocates in every start and stop of a region. A signal handler that interrupted malloc
 * may make intercepted calls; with malloc's own lock held by the very thread they would wait for
 * ever. Here signals are blocked whenever the lock is held. What libc itself allocated (getline,
 * hwloc) comes back through the same free and is passed on.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "preload/likwid.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_AREA_BYTES (UINT64_C(4) << 30) /* address space; pages come when touched */
#define CM_MIN_SHIFT 5
#define CM_N_CLASSES 28
#define CM_LARGE_BYTES 1024 /* LIKWID's results of a region are larger than all else it makes */

struct block {
	uint64_t class_idx;
	struct block *next; /* free ones; else padding, 16 bytes before what LIKWID has */
};
_Static_assert(sizeof(struct block) == 16, "keeps blocks aligned");

static char *area;
static uint64_t n_used;
static struct block *free_blocks[CM_N_CLASSES];
static _Atomic uint32_t lock;

static bool is_ours(const void *block)
{
	return area && (const char *)block >= area && (const char *)block < area + CM_AREA_BYTES;
}

static uint64_t class_bytes(uint64_t idx)
{
	return UINT64_C(1) << (idx + CM_MIN_SHIFT);
}

static struct block *take(uint64_t idx)
{
	struct block *block = free_blocks[idx];

	if (block) {
		free_blocks[idx] = block->next;
		return block;
	}
	if (!area)
		area = cm_sys_memory(CM_AREA_BYTES);
	if (!area || n_used + class_bytes(idx) > CM_AREA_BYTES)
		return NULL;
	block = (struct block *)(area + n_used);
	n_used += class_bytes(idx);
	return block;
}

void *cm_likwid_malloc(size_t n_bytes)
{
	uint64_t idx = 0, mask, *words;
	struct block *block = NULL;

	while (idx < CM_N_CLASSES && class_bytes(idx) < n_bytes + sizeof(*block))
		idx++;
	if (idx < CM_N_CLASSES) {
		mask = cm_sys_block_signals();
		cm_lock(&lock);
		block = take(idx);
		cm_unlock(&lock);
		cm_sys_restore_signals(mask);
	}
	if (!block) {
		errno = ENOMEM;
		return NULL;
	}
	block->class_idx = idx;
	words = (uint64_t *)(block + 1);
	for (size_t i = 0; n_bytes >= CM_LARGE_BYTES && i < n_bytes / sizeof(*words); i++)
		words[i] = cm_likwid_call.fill;
	return words;
}

void *cm_likwid_calloc(size_t n, size_t n_bytes)
{
	size_t n_all;
	void *block;

	if (__builtin_mul_overflow(n, n_bytes, &n_all)) {
		errno = ENOMEM;
		return NULL;
	}
	block = cm_likwid_malloc(n_all);
	return block ? memset(block, 0, n_all) : NULL;
}

void cm_likwid_free(void *memory)
{
	struct block *block = (struct block *)memory - 1;
	uint64_t mask;

	if (!is_ours(memory)) {
		free(memory);
		return;
	}
	mask = cm_sys_block_signals();
	cm_lock(&lock);
	block->next = free_blocks[block->class_idx];
	free_blocks[block->class_idx] = block;
	cm_unlock(&lock);
	cm_sys_restore_signals(mask);
}

void *cm_likwid_realloc(void *old, size_t n_bytes)
{
	size_t n_old;
	void *block;

	if (old && !is_ours(old))
		return realloc(old, n_bytes);
	n_old = old ? class_bytes(((struct block *)old - 1)->class_idx) - sizeof(struct block) : 0;
	if (old && n_bytes <= n_old)
		return old;
	block = cm_likwid_malloc(n_bytes);
	if (block && old) {
		memcpy(block, old, n_old);
		cm_likwid_free(old);
	}
	return block;
}

char *cm_likwid_strdup(const char *string)
{
	size_t n = strlen(string) + 1;
	char *copy = cm_likwid_malloc(n);

	return copy ? memcpy(copy, string, n) : NULL;
}
