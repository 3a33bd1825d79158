/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of totals in t<slot>.tot: pieces that are mapped once and never move. */
#include "preload/clock.h"
#include "preload/process.h"
#include "preload/record.h"

#define CM_PIECE_BYTES (64 * CM_SPOOL_TOTALS_STRIDE) /* whole pages, whole blocks */
_Static_assert(CM_PIECE_BYTES % 4096 == 0, "pieces are mapped");

static int add_piece(struct cm_thread *thread)
{
	char *piece;
	int rc = cm_thread_add_piece(thread, ".tot", thread->totals_bytes, CM_PIECE_BYTES, &piece);

	if (rc < 0)
		return rc;
	thread->totals_next = piece;
	thread->totals_end = piece + CM_PIECE_BYTES;
	thread->totals_bytes += CM_PIECE_BYTES;
	return 0;
}

struct cm_spool_totals *cm_totals_get(struct cm_thread *thread, uint32_t region)
{
	struct cm_cell *cell = &thread->cells[region];
	struct cm_spool_totals *totals;
	int rc = 0;

	if (cell->totals)
		return cell->totals;
	cm_clock_need_scale();
	if (thread->totals_next == thread->totals_end) {
		cm_process_lock();
		rc = add_piece(thread);
		cm_process_unlock();
	}
	if (rc < 0)
		return NULL;
	totals = (struct cm_spool_totals *)thread->totals_next;
	thread->totals_next += CM_SPOOL_TOTALS_STRIDE;
	totals->region = region;
	totals->min = UINT64_MAX;
	totals->used = 1;
	cell->totals = totals;
	return totals;
}
