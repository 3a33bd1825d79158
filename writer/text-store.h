/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for what is read from a file: many small pieces, freed together, with a limit.
 *
 * A hostile file can name the same megabyte a million times; the limit turns that into an error.
 * One thread at a time. Errors: NULL, for no memory or the limit.
 */
#ifndef CALLMARK_WRITER_TEXT_STORE_H
#define CALLMARK_WRITER_TEXT_STORE_H

#include <stddef.h>

struct cm_text_block;

struct cm_text_store {
	struct cm_text_block *blocks; /* the newest first */
	size_t n_used;		      /* bytes of the newest block */
	size_t n_left;		      /* bytes that may still be asked for */
};

void cm_text_store_init(struct cm_text_store *store, size_t limit_bytes);
void cm_text_store_fini(struct cm_text_store *store);

/* n * size zeroed bytes, 16-aligned, valid until fini. */
void *cm_text_store_alloc(struct cm_text_store *store, size_t n, size_t size);

/* A copy of n_bytes of text with a NUL behind. */
char *cm_text_store_copy(struct cm_text_store *store, const char *text, size_t n_bytes);

#endif
