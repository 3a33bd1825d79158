/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words of one slot's stream, whichever file they stand in; holes are left out.
 *
 * A part of collector/stream.c. Threads: one at a time. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_STREAM_SOURCE_H
#define CALLMARK_COLLECTOR_STREAM_SOURCE_H

#include <stdint.h>

#include "collector/spool-reader.h"

#define CM_HOLE_BYTES UINT64_C(512) /* shorter ones are words that were not published */

struct cm_stream_source {
	const struct cm_spool_reader *reader;
	const struct cm_slot *slot;
	int dat_fd;	   /* -1: none */
	size_t first_ring; /* those before end before the position */
	size_t ring_idx;   /* whose file ring_fd is */
	int ring_fd;	   /* -1: none */
	uint64_t *scratch; /* n_words of the largest read */
};

void cm_stream_source_init(struct cm_stream_source *source, const struct cm_spool_reader *reader,
			   const struct cm_slot *slot, uint64_t *scratch);
void cm_stream_source_fini(struct cm_stream_source *source);

/* The first position >= pos (a multiple of 8) at which there may be a word; UINT64_MAX: none. */
uint64_t cm_stream_source_next(struct cm_stream_source *source, uint64_t pos);

/*
 * Words from byte position pos on, rings over the drained part, missing ones zero; up to n_words,
 * at least 1 while there are any, 0 at the end. Positions must not go back.
 */
long cm_stream_source_read(struct cm_stream_source *source, uint64_t pos, uint64_t *ret_words,
			   size_t n_words);

#endif
