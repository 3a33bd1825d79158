/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of totals in t<slot>.tot: pieces that are mapped once and never move. */
#include <errno.h>

#include "preload/clock.h"
#include "preload/process.h"
#include "preload/record.h"
#include "preload/syscall.h"

#define CM_PIECE_BYTES (64 * CM_SPOOL_TOTALS_STRIDE) /* whole pages, whole blocks */
_Static_assert(CM_PIECE_BYTES % 4096 == 0, "pieces are mapped");

static int add_piece(struct cm_thread *thread)
{
	static char path[CM_SPOOL_PATH_BYTES];
	uint64_t end = thread->totals_bytes + CM_PIECE_BYTES;
	char *piece = NULL;
	long rc;
	int fd;

	rc = cm_process_path(path, sizeof(path), (int)thread->slot, ".tot");
	if (rc < 0)
		return (int)rc;
	if (end > cm_sys_file_limit())
		return -EFBIG;
	fd = cm_sys_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	rc = cm_sys3(SYS_ftruncate, fd, (long)end, 0);
	if (rc >= 0)
		piece = cm_sys_mmap_at(CM_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				       thread->totals_bytes);
	cm_sys_close(fd);
	if (!piece)
		return rc < 0 ? (int)rc : -ENOMEM;
	rc = cm_thread_populate(piece, CM_PIECE_BYTES, path, thread->totals_bytes);
	if (rc < 0) {
		(void)cm_sys3(SYS_munmap, (long)piece, CM_PIECE_BYTES, 0); /* address space only */
		return (int)rc;
	}
	thread->totals_next = piece;
	thread->totals_end = piece + CM_PIECE_BYTES;
	thread->totals_bytes = end;
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
