/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one slot, decoded from its drained part and the rings over it (preload/spool.h,
 * "The record stream").
 *
 *	cm_stream_open(&stream, &reader, slot_idx, &diag);
 *	while ((n = cm_stream_read(stream, calls, 512)) > 0)
 *		...
 *	cm_stream_close(stream);
 *
 * A record that makes no sense (no such region or thread, an end before its start, no reference
 * point) is dropped and counted, never repaired. Where words are missing (a hole of 64 words or
 * more) the reference point is forgotten: short records after it are dropped until the next long
 * one, which follows within 2^24 ticks. Reading a stream twice gives the same calls, unless a ring
 * is read in place and its process lives.
 *
 * Memory: 256 KiB a stream. Threads: one at a time. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_STREAM_H
#define CALLMARK_COLLECTOR_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "collector/spool-reader.h"

struct cm_call {
	uint64_t start; /* ticks */
	uint64_t end;
	uint32_t thread; /* index; reader->n_threads: one that the process file does not know */
	uint16_t region; /* one that has a tag */
	uint16_t flags;	 /* CM_CALL_* */
};

struct cm_stream;

/* The reader is borrowed until close. -ENOMEM. */
int cm_stream_open(struct cm_stream **ret_stream, const struct cm_spool_reader *reader,
		   size_t slot_idx, struct cm_diag *diag);

/* Up to n calls, in stream order. 0: the end. */
long cm_stream_read(struct cm_stream *stream, struct cm_call *ret_calls, size_t n);

/* Records dropped so far. */
uint64_t cm_stream_n_bad(const struct cm_stream *stream);

/* Stream bytes passed so far, for a progress display. */
uint64_t cm_stream_position(const struct cm_stream *stream);

void cm_stream_close(struct cm_stream *stream);

#endif
