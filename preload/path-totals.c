/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of call paths in t<slot>.pth: pieces that are mapped once and never move. */
#include "preload/callers.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_SMALLEST_PIECE 4096u
#define CM_LARGEST_PIECE (256u << 10)
#define CM_TRY_AGAIN 1024 /* one call in so many, where there was no room */

/* One more piece: as much as there is already, so that few mappings are made. Lock held. */
static int add_piece(struct cm_thread *thread)
{
	struct cm_thread_callers *callers = thread->callers;
	uint64_t n_bytes = callers->totals_bytes;
	char *piece;
	int rc;

	if (n_bytes < CM_SMALLEST_PIECE)
		n_bytes = CM_SMALLEST_PIECE;
	else if (n_bytes > CM_LARGEST_PIECE)
		n_bytes = CM_LARGEST_PIECE;
	rc = cm_thread_add_piece(thread, ".pth", callers->totals_bytes, n_bytes, &piece);
	if (rc < 0)
		return rc;
	callers->totals_next = piece;
	callers->totals_end = piece + n_bytes;
	callers->totals_bytes += n_bytes;
	return 0;
}

/* The place of a path's pointer. */
static struct cm_spool_path_total **find_place(struct cm_thread *thread, uint32_t path)
{
	struct cm_spool_path_total ***block;

	if (!thread->callers)
		thread->callers = cm_sys_memory(sizeof(*thread->callers));
	if (!thread->callers)
		return NULL;
	block = &thread->callers->blocks[path >> CM_PATH_BLOCK_BITS];
	if (!*block)
		*block = cm_sys_memory(sizeof(**block) << CM_PATH_BLOCK_BITS);
	return *block ? *block + (path & ((1u << CM_PATH_BLOCK_BITS) - 1)) : NULL;
}

struct cm_spool_path_total *cm_path_total_get(struct cm_thread *thread, uint32_t path)
{
	struct cm_spool_path_total **place = find_place(thread, path), *total;
	struct cm_thread_callers *callers = thread->callers;
	int rc = 0;

	if (!place || *place)
		return place ? *place : NULL;
	if (callers->totals_next == callers->totals_end) {
		if (callers->n_failed % CM_TRY_AGAIN && callers->n_failed++)
			return NULL;
		cm_process_lock();
		rc = add_piece(thread);
		cm_process_unlock();
	}
	if (rc < 0) {
		callers->n_failed++;
		return NULL;
	}
	callers->n_failed = 0;
	total = (struct cm_spool_path_total *)callers->totals_next;
	callers->totals_next += sizeof(*total);
	total->path = path;
	atomic_signal_fence(memory_order_seq_cst);
	total->used = 1;
	*place = total;
	return total;
}
