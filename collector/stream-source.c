/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlaying rings over the drained part, and finding the next word behind a hole. */
#include "collector/stream-source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cm_stream_source_init(struct cm_stream_source *source, const struct cm_spool_reader *reader,
			   const struct cm_slot *slot, uint64_t *scratch)
{
	char name[24];

	memset(source, 0, sizeof(*source));
	source->reader = reader;
	source->slot = slot;
	source->scratch = scratch;
	source->dat_fd = -1;
	source->ring_fd = -1;
	if (slot->has_dat) {
		snprintf(name, sizeof(name), "t%u.dat", slot->slot);
		/* One that cannot be opened (any more) is an empty one: its calls are missing. */
		source->dat_fd = cm_spool_reader_open_file(reader, name);
	}
}

void cm_stream_source_fini(struct cm_stream_source *source)
{
	if (source->dat_fd >= 0)
		close(source->dat_fd);
	if (source->ring_fd >= 0)
		close(source->ring_fd);
	source->dat_fd = -1;
	source->ring_fd = -1;
}

/* The first byte at or behind off that is no hole; UINT64_MAX: none. */
static uint64_t seek_data(int fd, uint64_t off)
{
	off_t data = off <= INT64_MAX ? lseek(fd, (off_t)off, SEEK_DATA) : -1;

	return data < 0 ? UINT64_MAX : (uint64_t)data & ~UINT64_C(7);
}

static int open_ring(struct cm_stream_source *source, size_t ring_idx)
{
	if (source->ring_fd >= 0 && source->ring_idx == ring_idx)
		return source->ring_fd;
	if (source->ring_fd >= 0)
		close(source->ring_fd);
	source->ring_idx = ring_idx;
	source->ring_fd =
		cm_spool_reader_open_file(source->reader, source->slot->rings[ring_idx].name);
	return source->ring_fd;
}

/* The next position in one ring's window. */
static uint64_t next_in_ring(struct cm_stream_source *source, size_t ring_idx, uint64_t pos)
{
	const struct cm_ring *ring = &source->slot->rings[ring_idx];
	uint64_t end = ring->base + ring->n_bytes, off;
	int fd;

	if (pos < ring->base)
		pos = ring->base;
	if (pos >= end)
		return UINT64_MAX;
	if (ring->words) {
		for (; pos < end; pos += 8) {
			if (ring->words[(pos - ring->base) / 8])
				return pos;
		}
		return UINT64_MAX;
	}
	fd = open_ring(source, ring_idx);
	off = fd < 0 ? UINT64_MAX : seek_data(fd, ring->file_off + (pos - ring->base));
	if (off == UINT64_MAX)
		return off;
	if (off < ring->file_off + (pos - ring->base))
		return pos;
	off -= ring->file_off;
	return off < ring->n_bytes ? ring->base + (off & ~UINT64_C(7)) : UINT64_MAX;
}

uint64_t cm_stream_source_next(struct cm_stream_source *source, uint64_t pos)
{
	const struct cm_slot *slot = source->slot;
	uint64_t next = UINT64_MAX;

	if (source->dat_fd >= 0 && pos < slot->dat_bytes) {
		next = seek_data(source->dat_fd, pos);
		if (next < pos)
			next = pos;
		if (next >= slot->dat_bytes)
			next = UINT64_MAX;
	}
	while (source->first_ring < slot->n_rings &&
	       slot->rings[source->first_ring].base + slot->rings[source->first_ring].n_bytes <=
		       pos)
		source->first_ring++;
	for (size_t i = source->first_ring; i < slot->n_rings && next > pos; i++) {
		uint64_t in_ring;

		if (slot->rings[i].base >= next)
			break; /* they ascend: no later one can be nearer */
		in_ring = next_in_ring(source, i, pos);
		if (in_ring < next)
			next = in_ring;
	}
	return next;
}

/* Put a ring's non-zero words over those at [pos, pos + 8 * n_words). */
static void overlay(struct cm_stream_source *source, size_t ring_idx, uint64_t pos, uint64_t *words,
		    size_t n_words)
{
	const struct cm_ring *ring = &source->slot->rings[ring_idx];
	uint64_t first = pos > ring->base ? pos : ring->base;
	uint64_t last = pos + 8 * n_words, end = ring->base + ring->n_bytes;
	const uint64_t *from = source->scratch;
	size_t n;
	long got;
	int fd;

	if (last > end)
		last = end;
	if (first >= last)
		return;
	n = (size_t)(last - first) / 8;
	if (ring->words) {
		from = ring->words + (first - ring->base) / 8;
	} else {
		fd = open_ring(source, ring_idx);
		got = fd < 0 ? fd
			     : cm_spool_reader_pread(fd, source->scratch, 8 * n,
						     ring->file_off + (first - ring->base));
		n = got < 0 ? 0 : (size_t)got / 8;
	}
	words += (first - pos) / 8;
	for (size_t i = 0; i < n; i++) {
		if (from[i])
			words[i] = from[i];
	}
}

/* Where the last word that any file may hold ends. */
static uint64_t find_end(const struct cm_stream_source *source)
{
	const struct cm_slot *slot = source->slot;
	uint64_t end = source->dat_fd >= 0 ? slot->dat_bytes : 0;

	for (size_t i = source->first_ring; i < slot->n_rings; i++) {
		uint64_t ring_end = slot->rings[i].base + slot->rings[i].n_bytes;

		if (ring_end > end)
			end = ring_end;
	}
	return end;
}

long cm_stream_source_read(struct cm_stream_source *source, uint64_t pos, uint64_t *ret_words,
			   size_t n_words)
{
	const struct cm_slot *slot = source->slot;
	uint64_t end = find_end(source);
	size_t n_dat = 0;
	long n = 0;

	if (pos >= end)
		return 0;
	if (n_words > (end - pos) / 8)
		n_words = (size_t)((end - pos) / 8);
	if (source->dat_fd >= 0 && pos < slot->dat_bytes) {
		n_dat = (size_t)(slot->dat_bytes - pos) / 8;
		if (n_dat > n_words)
			n_dat = n_words;
		n = cm_spool_reader_pread(source->dat_fd, ret_words, 8 * n_dat, pos);
		if (n < 0)
			return n;
		n_dat = (size_t)n / 8; /* cut since it was opened: the rest reads as zero */
	}
	memset(ret_words + n_dat, 0, 8 * (n_words - n_dat));
	for (size_t i = source->first_ring; i < slot->n_rings; i++) {
		if (slot->rings[i].base >= pos + 8 * n_words)
			break;
		overlay(source, i, pos, ret_words, n_words);
	}
	return (long)n_words;
}
