/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoding words into calls. Short records, nearly all there are, take a loop without branches of
 * their own; everything else goes through decode_other().
 */
#include "collector/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/stream-source.h"

#ifdef CM_SMALL_PIECES /* fuzzers: short streams meet the ends of pieces too */
#define CHUNK_WORDS ((size_t)32)
#else
#define CHUNK_WORDS ((size_t)32768)
#endif
#define MAX_OPERANDS 2

struct cm_stream {
	struct cm_stream_source source;
	const struct cm_spool_reader *reader;
	const uint64_t *next; /* in words[] */
	const uint64_t *end;
	uint64_t pos; /* byte position of *end */
	bool is_last; /* nothing follows the words at hand directly */
	uint64_t base;
	uint64_t n_bad;
	uint64_t n_zeros; /* zero words just before next */
	uint32_t thread;
	bool has_base;
	bool has_thread;
	uint8_t is_known[CM_SPOOL_MAX_REGIONS + 1]; /* 1: the region has a tag */
	uint64_t words[MAX_OPERANDS + CHUNK_WORDS];
	uint64_t scratch[CHUNK_WORDS];
};

/* Before the first thread word the slot is that of the first thread it was given to. */
static uint32_t first_thread(const struct cm_spool_reader *reader, uint32_t slot)
{
	for (size_t i = 0; i < reader->n_threads; i++) {
		if (reader->threads[i].known && reader->threads[i].slot == slot)
			return (uint32_t)i;
	}
	return (uint32_t)reader->n_threads;
}

int cm_stream_open(struct cm_stream **ret_stream, const struct cm_spool_reader *reader,
		   size_t slot_idx, struct cm_diag *diag)
{
	const struct cm_slot *slot = &reader->slots[slot_idx];
	struct cm_stream *stream = malloc(sizeof(*stream));

	if (!stream)
		return cm_diag_set(diag, -ENOMEM, "%s: no memory to decode", reader->path);
	memset(stream, 0, offsetof(struct cm_stream, words));
	cm_stream_source_init(&stream->source, reader, slot, stream->scratch);
	stream->reader = reader;
	stream->next = stream->words;
	stream->end = stream->words;
	stream->thread = first_thread(reader, slot->slot);
	stream->has_thread = true;
	for (size_t i = 0; i < reader->n_regions; i++)
		stream->is_known[i] = reader->regions[i].tag != NULL;
	*ret_stream = stream;
	return 0;
}

/*
 * More words behind those left over (at most MAX_OPERANDS). Leftovers before a hole are handed out
 * first, as the last ones before it. 1, 0 at the end, or -errno.
 */
static int fill(struct cm_stream *stream)
{
	size_t n_left = (size_t)(stream->end - stream->next);
	uint64_t next = cm_stream_source_next(&stream->source, stream->pos);
	long n = 0;

	memmove(stream->words, stream->next, 8 * n_left);
	stream->next = stream->words;
	if (next != UINT64_MAX && next >= stream->pos + CM_HOLE_BYTES) {
		if (n_left) {
			stream->end = stream->words + n_left;
			stream->is_last = true;
			return 1;
		}
		stream->pos = next;
		stream->has_base = false;
	}
	if (next != UINT64_MAX) {
		n = cm_stream_source_read(&stream->source, stream->pos, stream->words + n_left,
					  CHUNK_WORDS);
		if (n < 0)
			return (int)n;
	}
	stream->end = stream->words + n_left + n;
	stream->pos += 8 * (uint64_t)n;
	stream->is_last = n == 0;
	return n_left + (size_t)n > 0;
}

static size_t decode_shorts(struct cm_stream *stream, struct cm_call *calls, size_t n)
{
	const uint64_t duration_mask = (UINT64_C(1) << CM_WORD_SHORT_DURATION_BITS) - 1;
	const uint64_t offset_mask = (UINT64_C(1) << CM_WORD_SHORT_OFFSET_BITS) - 1;
	const uint64_t *next = stream->next, *end = stream->end;
	const uint64_t base = stream->base;
	const uint32_t thread = stream->thread;
	const unsigned int usable = stream->has_base && stream->has_thread;
	size_t n_calls = 0, n_words = 0;

	while (n_calls < n && next < end && (*next & CM_WORD_SHORT_BIT)) {
		uint64_t word = *next++;
		uint64_t duration = word >> CM_WORD_SHORT_DURATION_SHIFT & duration_mask;
		uint16_t region = (uint16_t)(word >> CM_WORD_SHORT_REGION_SHIFT);
		uint64_t call_end = base + (word & offset_mask);

		/* Written in any case, kept when it is good. */
		calls[n_calls].start = call_end - duration;
		calls[n_calls].end = call_end;
		calls[n_calls].thread = thread;
		calls[n_calls].region = region;
		calls[n_calls].flags = 0;
		n_calls += usable & stream->is_known[region] & (duration < call_end);
		n_words++;
	}
	stream->next = next;
	stream->n_bad += n_words - n_calls;
	return n_calls;
}

static void skip_zeros(struct cm_stream *stream)
{
	const uint64_t *first = stream->next;

	while (stream->next < stream->end && !*stream->next)
		stream->next++;
	stream->n_zeros += (uint64_t)(stream->next - first);
	if (stream->n_zeros >= CM_HOLE_BYTES / 8)
		stream->has_base = false;
	if (stream->next < stream->end)
		stream->n_zeros = 0;
}

/* A LONG or HUGE record. 1: a call, 0: none. */
static int decode_absolute(struct cm_stream *stream, bool is_huge, struct cm_call *ret_call)
{
	size_t n_operands = is_huge ? 2 : 1;
	size_t n_left = (size_t)(stream->end - stream->next) - 1;
	const uint64_t *operands = stream->next + 1;
	uint64_t word = *stream->next;
	uint64_t end = n_left > 0 ? operands[0] : 0;
	uint64_t start = is_huge && n_left > 1 ? operands[1] : 0;
	uint64_t duration = word & ((UINT64_C(1) << CM_WORD_LONG_DURATION_BITS) - 1);
	uint16_t region = (uint16_t)(word >> CM_WORD_REGION_SHIFT);

	if ((end | start) & CM_WORD_SHORT_BIT) {
		/* No tick: what looked like a record's head is none. */
		stream->n_bad++;
		stream->has_base = false;
		stream->next++;
		return 0;
	}
	stream->next += 1 + (n_operands < n_left ? n_operands : n_left);
	if (!end || (is_huge && !start)) {
		stream->has_base = false; /* not published; nobody knows what it moved */
		return 0;
	}
	if (!is_huge)
		start = duration < end ? end - duration : 0;
	stream->base = end;
	stream->has_base = true;
	if (!start || start > end || !stream->is_known[region] || !stream->has_thread) {
		stream->n_bad++;
		return 0;
	}
	ret_call->start = start;
	ret_call->end = end;
	ret_call->thread = stream->thread;
	ret_call->region = region;
	ret_call->flags = word >> CM_WORD_FLAGS_SHIFT & (CM_CALL_UNWOUND | CM_CALL_SKIPPED);
	return 1;
}

static void take_thread(struct cm_stream *stream, uint64_t thread)
{
	stream->has_thread = thread < CM_SPOOL_MAX_THREADS;
	if (!stream->has_thread)
		stream->n_bad++;
	else if (thread < stream->reader->n_threads)
		stream->thread = (uint32_t)thread;
	else
		stream->thread = (uint32_t)stream->reader->n_threads;
}

/* Whatever is no short record. 1: a call, 0: none. */
static int decode_other(struct cm_stream *stream, struct cm_call *ret_call)
{
	uint64_t word = *stream->next;

	if (!word) {
		skip_zeros(stream);
		return 0;
	}
	switch (word >> CM_WORD_KIND_SHIFT) {
	case CM_WORD_LONG:
		return decode_absolute(stream, false, ret_call);
	case CM_WORD_HUGE:
		return decode_absolute(stream, true, ret_call);
	case CM_WORD_THREAD:
		take_thread(stream, word & CM_WORD_PAYLOAD_MASK);
		break;
	case CM_WORD_NOP:
		break;
	default:
		stream->n_bad++;
	}
	stream->next++;
	return 0;
}

long cm_stream_read(struct cm_stream *stream, struct cm_call *ret_calls, size_t n)
{
	size_t n_calls = 0;
	int rc;

	while (n_calls < n) {
		size_t n_left = (size_t)(stream->end - stream->next);

		if (n_left == 0 || (n_left <= MAX_OPERANDS && !stream->is_last)) {
			rc = fill(stream);
			if (rc < 0)
				return rc;
			if (rc == 0)
				break;
			continue;
		}
		n_calls += decode_shorts(stream, ret_calls + n_calls, n - n_calls);
		if (n_calls == n || stream->next == stream->end ||
		    *stream->next & CM_WORD_SHORT_BIT)
			continue;
		/* Operands beyond the words at hand: only once no more can follow. */
		if (stream->end - stream->next <= MAX_OPERANDS && !stream->is_last)
			continue;
		n_calls += (size_t)decode_other(stream, ret_calls + n_calls);
	}
	return (long)n_calls;
}

uint64_t cm_stream_n_bad(const struct cm_stream *stream)
{
	return stream->n_bad;
}

uint64_t cm_stream_position(const struct cm_stream *stream)
{
	return stream->pos;
}

void cm_stream_close(struct cm_stream *stream)
{
	if (!stream)
		return;
	cm_stream_source_fini(&stream->source);
	free(stream);
}
