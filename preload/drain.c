/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a ring is full: its words go to t<slot>.dat, or (no room there) into the totals.
 *
 * A zero word in a full ring is a hole: it belongs to a call that a signal handler interrupted
 * between reserving and filling it, and is filled when the handlers above it return. Such a ring
 * is pinned, and another one takes over; readers overlay all of them (spool.h). It is written out
 * and free again once its holes are filled. A call that was left by siglongjmp never fills its
 * hole: that is certain when no other call is open.
 *
 * A call that was interrupted just after it had reserved the first word behind ring_end may find
 * another ring_end when it compares, and fill the word: it stands in the slack, where it is read.
 */
#include <errno.h>
#include <string.h>

#include "preload/process.h"
#include "preload/record.h"
#include "preload/syscall.h"

#define CM_NOP ((uint64_t)CM_WORD_NOP << CM_WORD_KIND_SHIFT)

static uint64_t *first_word(const struct cm_ring_file *ring)
{
	return (uint64_t *)((char *)ring->header + ring->header->ring_offset);
}

static size_t n_bytes_of(const struct cm_ring_file *ring)
{
	return (size_t)((char *)ring->end - (char *)first_word(ring));
}

static struct cm_ring_file *current(struct cm_thread *thread)
{
	return &thread->rings[thread->ring_idx];
}

/* No word behind ring_next will be reserved any more. */
static void seal(struct cm_thread *thread)
{
	uint64_t *word =
		thread->ring_next < thread->ring_end ? thread->ring_next : thread->ring_end;

	for (; word < current(thread)->end; word++)
		if (!*word)
			*word = CM_NOP;
	thread->ring_next = thread->ring_end;
}

/* The ring at its place in the stream. is_last: a half-done write is taken back. */
static int write_out(const struct cm_thread *thread, const struct cm_ring_file *ring, bool is_last)
{
	char path[CM_SPOOL_PATH_BYTES];
	const char *words = (const char *)first_word(ring);
	uint64_t base = ring->header->stream_base;
	size_t n_bytes = n_bytes_of(ring), n_done = 0;
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
		got = cm_sys6(SYS_pwrite64, fd, (long)(words + n_done), (long)(n_bytes - n_done),
			      (long)(base + n_done), 0, 0);
		if (got <= 0)
			break;
		n_done += (size_t)got;
	}
	if (n_done < n_bytes && is_last) /* if this fails too, readers see calls twice at worst */
		(void)cm_sys3(SYS_ftruncate, fd, (long)base, 0);
	cm_sys_close(fd);
	return n_done == n_bytes ? 0 : got < 0 ? (int)got : -ENOSPC;
}

static const uint64_t *find_hole(const struct cm_ring_file *ring)
{
	for (const uint64_t *word = first_word(ring); word < ring->end; word++)
		if (!*word)
			return word;
	return NULL;
}

static void clear(const struct cm_ring_file *ring)
{
	uint64_t *word = first_word(ring);
	size_t n = n_bytes_of(ring) / sizeof(uint64_t);

	__asm__ volatile("rep stosq" : "+D"(word), "+c"(n) : "a"(UINT64_C(0)) : "memory");
}

/* Is no call open but the one that is being closed? */
static bool is_outermost(const struct cm_thread *thread)
{
	for (const struct cm_spool_open *entry = thread->table; entry < thread->next; entry++)
		if (entry->start && entry != thread->closing)
			return false;
	return true;
}

static void fill_holes(const struct cm_ring_file *ring)
{
	for (uint64_t *word = first_word(ring); word < ring->end; word++)
		if (!*word)
			*word = CM_NOP;
}

static void fill_pinned(struct cm_thread *thread)
{
	for (uint32_t i = 0; i < thread->n_rings; i++)
		if (thread->rings[i].is_pinned)
			fill_holes(&thread->rings[i]);
}

void cm_drain_abandon(struct cm_thread *thread)
{
	for (uint64_t *word = thread->ring; word < thread->ring_next; word++)
		if (word < thread->ring_end && !*word)
			*word = CM_NOP;
	fill_pinned(thread);
	thread->hole = NULL;
}

bool cm_drain_has_recorded(const struct cm_thread *thread, const struct cm_spool_open *entry)
{
	const uint64_t *word =
		thread->ring_next < thread->ring_end ? thread->ring_next : thread->ring_end;

	/* Backwards, as long as the words' reference point is known and they ended later. */
	while (word-- > thread->ring) {
		uint64_t duration = *word >> CM_WORD_SHORT_DURATION_SHIFT &
				    ((1u << CM_WORD_SHORT_DURATION_BITS) - 1);
		uint64_t end = thread->base + (*word & ((1u << CM_WORD_SHORT_OFFSET_BITS) - 1));

		if (!*word || *word == CM_NOP)
			continue;
		if (!(*word & CM_WORD_SHORT_BIT) || end < entry->start)
			break;
		if (end - duration == entry->start &&
		    (*word >> CM_WORD_SHORT_REGION_SHIFT & CM_SPOOL_MAX_REGIONS) == entry->region)
			return true;
	}
	return false;
}

/* Write out pinned rings that have become complete. */
static void free_rings(struct cm_thread *thread)
{
	for (uint32_t i = 0; i < thread->n_rings; i++) {
		struct cm_ring_file *ring = &thread->rings[i];

		if (!ring->is_pinned || find_hole(ring) || write_out(thread, ring, false) < 0)
			continue;
		clear(ring);
		ring->is_pinned = false;
	}
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
	const uint64_t *word = thread->ring, *end = current(thread)->end;

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
	clear(current(thread));
	thread->ring_next = thread->ring;
	/* Readers know neither the last base nor the thread any more. */
	thread->base = 0;
	*thread->ring_next++ = (uint64_t)CM_WORD_THREAD << CM_WORD_KIND_SHIFT | thread->thread;
}

/* The full ring has no hole: empty it. */
static bool empty(struct cm_thread *thread)
{
	struct cm_ring_file *ring = current(thread);
	uint64_t next_base = ring->header->stream_base + n_bytes_of(ring);

	if (write_out(thread, ring, true) < 0) {
		fold(thread);
		return false;
	}
	clear(ring);
	cm_thread_use_ring(thread, thread->ring_idx, next_base);
	return true;
}

/* It has one: go on in another ring. */
static bool move_on(struct cm_thread *thread)
{
	struct cm_ring_file *ring = current(thread);
	uint64_t next_base = ring->header->stream_base + n_bytes_of(ring);
	int idx = 0;

	while (idx < (int)thread->n_rings &&
	       (thread->rings[idx].is_pinned || idx == (int)thread->ring_idx))
		idx++;
	if (idx == (int)thread->n_rings) {
		cm_process_lock();
		idx = cm_thread_make_ring(thread);
		cm_process_unlock();
	}
	if (idx < 0)
		return false;
	ring->is_pinned = true;
	cm_thread_use_ring(thread, (uint32_t)idx, next_base);
	return true;
}

static bool drain(struct cm_thread *thread)
{
	const uint64_t *hole;
	bool ok;

	/* No ring was left: until the hole is filled, calls are only added to the totals. */
	if (thread->hole && !*thread->hole && !is_outermost(thread))
		return false;
	seal(thread);
	if (!cm_thread_grow_ring(thread))
		return true;
	hole = find_hole(current(thread));
	if (is_outermost(thread)) {
		if (hole)
			fill_holes(current(thread));
		hole = NULL;
		fill_pinned(thread);
	}
	free_rings(thread);
	ok = hole ? move_on(thread) : empty(thread);
	thread->hole = ok ? NULL : hole;
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
