/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a ring is full: its words go to t<slot>.dat, or (no room there) into the totals.
 *
 * A zero word in a full ring belongs to a call that a signal handler interrupted between reserving
 * and filling it, and which will be filled when the handlers above it return. Such a ring keeps
 * its memory; a further one takes over (a "segment"). Readers overlay all of them (spool.h).
 */
#include <errno.h>
#include <string.h>

#include "preload/process.h"
#include "preload/record.h"
#include "preload/syscall.h"

void cm_drain_seal(struct cm_thread *thread)
{
	while (thread->ring_next < thread->ring_end)
		*thread->ring_next++ = (uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT;
	thread->ring_next = thread->ring_end;
}

/* Bytes of the ring that have storage. */
static size_t n_usable(const struct cm_thread *thread)
{
	return (size_t)((char *)thread->ring_end - (char *)thread->ring);
}

/* The ring at its place in the stream; a half-done write is taken back. */
static int write_out(const struct cm_thread *thread)
{
	char path[CM_SPOOL_PATH_BYTES];
	uint64_t base = thread->header->stream_base;
	size_t n_bytes = n_usable(thread), n_done = 0;
	long got = 0;
	int fd, rc = cm_process_path(path, sizeof(path), (int)thread->slot, ".dat");

	if (rc < 0)
		return rc;
	if (base + n_bytes > cm_sys_file_limit())
		return -EFBIG;
	fd = cm_sys_open(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
	if (fd < 0)
		return fd;
	while (n_done < n_bytes) {
		got = cm_sys6(SYS_pwrite64, fd, (long)((char *)thread->ring + n_done),
			      (long)(n_bytes - n_done), (long)(base + n_done), 0, 0);
		if (got <= 0)
			break;
		n_done += (size_t)got;
	}
	if (n_done < n_bytes) /* if this fails too, readers see calls twice at worst */
		(void)cm_sys3(SYS_ftruncate, fd, (long)base, 0);
	cm_sys_close(fd);
	return n_done == n_bytes ? 0 : got < 0 ? (int)got : -ENOSPC;
}

static bool has_holes(const struct cm_thread *thread)
{
	for (const uint64_t *word = thread->ring; word < thread->ring_end; word++)
		if (!*word)
			return true;
	return false;
}

static void clear(struct cm_thread *thread)
{
	uint64_t *word = thread->ring;
	size_t n = n_usable(thread) / sizeof(uint64_t);

	__asm__ volatile("rep stosq" : "+D"(word), "+c"(n) : "a"(UINT64_C(0)) : "memory");
	thread->ring_next = thread->ring;
}

static void fold_call(struct cm_thread *thread, uint32_t region, uint64_t duration,
		      unsigned int flags)
{
	struct cm_spool_totals *totals = cm_totals_get(thread, region);
	uint64_t mark; /* these calls have no open entry any more */

	if (!totals) {
		thread->first->n_dropped++;
		return;
	}
	cm_record_total(totals, duration, &mark);
	totals->n_lost++;
	totals->n_unwound += !!(flags & CM_CALL_UNWOUND);
	totals->n_skipped += !!(flags & CM_CALL_SKIPPED);
}

/* The stream cannot be written: keep the calls' counts and times, lose their places in time. */
static void fold(struct cm_thread *thread)
{
	const uint64_t *word = thread->ring, *end = thread->ring_end;

	while (word < end) {
		uint64_t w = *word++;
		uint32_t region = w >> CM_WORD_REGION_SHIFT & CM_SPOOL_MAX_REGIONS;
		unsigned int flags = w >> CM_WORD_FLAGS_SHIFT & 15;

		if (w & CM_WORD_SHORT_BIT) {
			fold_call(thread, w >> CM_WORD_SHORT_REGION_SHIFT & CM_SPOOL_MAX_REGIONS,
				  w >> CM_WORD_SHORT_DURATION_SHIFT &
					  ((1u << CM_WORD_SHORT_DURATION_BITS) - 1),
				  0);
		} else if (w >> CM_WORD_KIND_SHIFT == CM_WORD_LONG && word < end) {
			fold_call(thread, region,
				  w & ((UINT64_C(1) << CM_WORD_LONG_DURATION_BITS) - 1), flags);
			word++;
		} else if (w >> CM_WORD_KIND_SHIFT == CM_WORD_HUGE && word + 1 < end) {
			fold_call(thread, region, word[0] - word[1], flags);
			word += 2;
		}
	}
	clear(thread);
	/* Readers know neither the last base nor the thread any more. */
	thread->base = 0;
	*thread->ring_next++ = (uint64_t)CM_WORD_THREAD << CM_WORD_KIND_SHIFT | thread->thread;
}

static bool drain(struct cm_thread *thread)
{
	uint64_t next_base;
	bool holes, ok;

	cm_drain_seal(thread);
	if (!cm_thread_grow_ring(thread))
		return true;
	next_base = thread->header->stream_base + n_usable(thread);
	holes = has_holes(thread);
	/* No further ring: until the handlers return, calls are only added to the totals. */
	if (holes && thread->n_segments == CM_MAX_SEGMENTS)
		return false;
	ok = write_out(thread) >= 0;
	if (!holes && ok) {
		clear(thread);
		thread->header->stream_base = next_base;
	} else if (!holes) {
		fold(thread);
	} else {
		cm_process_lock();
		ok = cm_thread_make_segment(thread, next_base) >= 0;
		cm_process_unlock();
	}
	cm_process_lock();
	cm_process_sync(false);
	cm_thread_note_name(thread);
	cm_process_unlock();
	return ok;
}

uint64_t *cm_drain_reserve(struct cm_thread *thread, unsigned int n_words)
{
	uint64_t *words = thread->ring_next;

	if (words + n_words > thread->ring_end) {
		if (!drain(thread))
			return NULL;
		words = thread->ring_next;
	}
	thread->ring_next = words + n_words;
	return words;
}
