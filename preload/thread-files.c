/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mappings of one thread. No page of a mapped file is touched before it has storage: on a full
 * disk the store would be a SIGBUS in the program.
 */
#include <errno.h>
#include <string.h>

#include "preload/process.h"
#include "preload/syscall.h"
#include "preload/thread.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define CM_PAGE 4096u

/* Storage for a part of a file that nobody has written yet. */
static int allocate(const char *path, uint64_t offset, size_t n_bytes)
{
	static const char zeros[CM_PAGE];
	int fd = cm_sys_open(path, O_WRONLY | O_NOFOLLOW, 0);
	long rc;

	if (fd < 0)
		return fd;
	rc = cm_sys6(SYS_fallocate, fd, 0, (long)offset, (long)n_bytes, 0, 0);
	for (size_t n = 0; rc == -EOPNOTSUPP && n < n_bytes; n += CM_PAGE)
		if (cm_sys6(SYS_pwrite64, fd, (long)zeros, CM_PAGE, (long)(offset + n), 0, 0) !=
		    CM_PAGE)
			rc = -ENOSPC;
	cm_sys_close(fd);
	return rc == -EOPNOTSUPP ? 0 : (int)rc;
}

/* Give pages of a shared mapping storage, so that no store faults. */
static int populate(void *address, size_t n_bytes, const char *path, uint64_t offset)
{
	long rc = cm_sys3(SYS_madvise, (long)address, (long)n_bytes, MADV_POPULATE_WRITE);

	if (rc == -EINVAL) /* the kernel does not know it */
		rc = allocate(path, offset, n_bytes);
	return (int)rc;
}

/* Create, size, map and (its first n_now bytes) populate one file. */
static int make_file(const char *path, size_t n_bytes, size_t n_now, char **ret_map)
{
	char *map = NULL;
	long rc;
	int fd = cm_sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);

	if (fd < 0)
		return fd;
	rc = cm_sys3(SYS_ftruncate, fd, (long)n_bytes, 0);
	if (rc >= 0)
		map = cm_sys_mmap(n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	cm_sys_close(fd);
	/* Else the kernel reads 2 MiB of the hole ahead: 2.5 ms in a thread's first call. */
	if (map)
		(void)cm_sys3(SYS_madvise, (long)map, (long)n_bytes, MADV_RANDOM);
	if (rc >= 0)
		rc = map ? populate(map, n_now, path, 0) : -ENOMEM;
	if (rc < 0) {
		if (map)
			(void)cm_sys3(SYS_munmap, (long)map, (long)n_bytes, 0); /* address space */
		(void)cm_sys3(SYS_unlink, (long)path, 0, 0); /* an empty file harms nobody */
		return (int)rc;
	}
	*ret_map = map;
	return 0;
}

int cm_thread_add_piece(const struct cm_thread *thread, const char *suffix, uint64_t offset,
			uint64_t n_bytes, char **ret_piece)
{
	static char path[CM_SPOOL_PATH_BYTES];
	char *piece = NULL;
	long rc = cm_process_path(path, sizeof(path), (int)thread->slot, suffix);
	int fd;

	if (rc < 0)
		return (int)rc;
	if (offset + n_bytes > cm_sys_file_limit())
		return -EFBIG;
	fd = cm_sys_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	rc = cm_sys3(SYS_ftruncate, fd, (long)(offset + n_bytes), 0);
	if (rc >= 0)
		piece = cm_sys_mmap_at(n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	cm_sys_close(fd);
	if (!piece)
		return rc < 0 ? (int)rc : -ENOMEM;
	rc = populate(piece, n_bytes, path, offset);
	if (rc < 0) {
		(void)cm_sys3(SYS_munmap, (long)piece, (long)n_bytes, 0); /* address space only */
		return (int)rc;
	}
	*ret_piece = piece;
	return 0;
}

void cm_thread_use_ring(struct cm_thread *thread, uint32_t idx, uint64_t stream_base)
{
	struct cm_ring_file *ring = &thread->rings[idx];

	ring->header->stream_base = stream_base;
	thread->ring_idx = idx;
	thread->ring = (uint64_t *)((char *)ring->header + CM_PAGE);
	thread->ring_next = thread->ring;
	thread->ring_end = ring->end - CM_RING_SLACK;
}

/* The file of one more ring has been mapped. */
static uint32_t add_ring(struct cm_thread *thread, char *map)
{
	struct cm_spool_thread *header = (struct cm_spool_thread *)map;

	header->version = CM_SPOOL_VERSION;
	header->slot = thread->slot;
	header->ring_offset = CM_PAGE;
	header->ring_bytes = CM_RING_BYTES;
	atomic_signal_fence(memory_order_seq_cst);
	header->magic = CM_SPOOL_THREAD_MAGIC;
	thread->rings[thread->n_rings].header = header;
	thread->rings[thread->n_rings].end = (uint64_t *)(map + CM_PAGE + CM_RING_STEP_BYTES);
	return thread->n_rings++;
}

int cm_thread_make_map(struct cm_thread *thread)
{
	static char path[CM_SPOOL_PATH_BYTES];
	const size_t n_head = CM_PAGE + CM_RING_BYTES;
	uint64_t limit = cm_sys_file_limit();
	size_t n_table = CM_TABLE_ENTRIES * sizeof(struct cm_spool_open);
	char *map = NULL;
	int rc = cm_process_path(path, sizeof(path), (int)thread->slot, ".map");

	if (rc < 0)
		return rc;
	if (limit < n_head + CM_PAGE)
		return -EFBIG;
	if (limit < n_head + n_table)
		n_table = (limit - n_head) & ~(size_t)(CM_PAGE - 1);
	rc = make_file(path, n_head + n_table, CM_PAGE + CM_RING_STEP_BYTES, &map);
	if (rc >= 0)
		rc = populate(map + n_head, CM_PAGE, path, n_head);
	if (rc < 0)
		return rc;
	/* Entry 0 of the file is the sentinel: free for readers, above every stack for us. */
	thread->table = (struct cm_spool_open *)(map + n_head) + 1;
	thread->table[-1].frame = UINT64_MAX;
	thread->next = thread->limit = thread->table;
	thread->n_populated = CM_PAGE / sizeof(struct cm_spool_open) - 1;
	thread->first = (struct cm_spool_thread *)map;
	cm_thread_use_ring(thread, add_ring(thread, map), 0);
	thread->first->table_offset = n_head + sizeof(struct cm_spool_open);
	thread->first->n_entries = n_table / sizeof(struct cm_spool_open) - 1;
	return 0;
}

/* What follows t<slot> in the file name of a ring. */
static void ring_suffix(uint32_t idx, char suffix[8])
{
	if (idx)
		memcpy(suffix, (char[]){'.', 's', (char)('0' + idx - 1), '\0'}, 4);
	else
		memcpy(suffix, ".map", sizeof(".map"));
}

int cm_thread_make_ring(struct cm_thread *thread)
{
	static char path[CM_SPOOL_PATH_BYTES];
	char suffix[8], *map = NULL;
	int rc;

	if (thread->n_rings >= CM_MAX_RINGS)
		return -ENOSPC;
	ring_suffix(thread->n_rings, suffix);
	rc = cm_process_path(path, sizeof(path), (int)thread->slot, suffix);
	if (rc < 0)
		return rc;
	if (CM_PAGE + CM_RING_BYTES > cm_sys_file_limit())
		return -EFBIG;
	rc = make_file(path, CM_PAGE + CM_RING_BYTES, CM_PAGE + CM_RING_STEP_BYTES, &map);
	return rc < 0 ? rc : (int)add_ring(thread, map);
}

int cm_thread_grow_ring(struct cm_thread *thread)
{
	struct cm_ring_file *ring = &thread->rings[thread->ring_idx];
	uint64_t offset = (uint64_t)((char *)ring->end - (char *)ring->header);
	char path[CM_SPOOL_PATH_BYTES], suffix[8];
	int rc;

	if (offset >= CM_PAGE + CM_RING_BYTES)
		return -ENOSPC;
	ring_suffix(thread->ring_idx, suffix);
	rc = cm_process_path(path, sizeof(path), (int)thread->slot, suffix);
	if (rc >= 0)
		rc = populate(ring->end, CM_RING_STEP_BYTES, path, offset);
	if (rc < 0)
		return rc;
	thread->ring_next = ring->end; /* reservations past the end were given up */
	ring->end += CM_RING_STEP_BYTES / sizeof(uint64_t);
	thread->ring_end = ring->end - CM_RING_SLACK;
	return 0;
}

int cm_thread_grow_table(struct cm_thread *thread)
{
	char path[CM_SPOOL_PATH_BYTES];
	const uint64_t n_page = CM_PAGE / sizeof(struct cm_spool_open);
	uint64_t n_all = thread->first->n_entries;
	char *page = (char *)(thread->table + thread->n_populated);
	uint64_t offset = (uint64_t)(page - (char *)thread->first);
	int rc;

	if (thread->limit < thread->table + thread->n_populated) {
		thread->limit = thread->table + thread->n_populated;
		return 0;
	}
	if (thread->n_populated + n_page > n_all)
		return -ENOSPC;
	rc = cm_process_path(path, sizeof(path), (int)thread->slot, ".map");
	if (rc >= 0)
		rc = populate(page, CM_PAGE, path, offset);
	if (rc < 0)
		return rc;
	thread->n_populated += n_page;
	thread->limit = thread->table + thread->n_populated;
	return 0;
}
