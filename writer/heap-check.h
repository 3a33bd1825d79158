/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a global heap collection of an HDF5 file (where its variable strings are) well formed?
 *
 * HDF5 1.10 believes the sizes in it: a damaged one makes it loop for ever or write past its
 * memory, and unlike most of the format it carries no checksum. Format: HDF5 File Format
 * Specification, III.E "Global Heap Block", with 8-byte lengths. Any thread.
 */
#ifndef CALLMARK_WRITER_HEAP_CHECK_H
#define CALLMARK_WRITER_HEAP_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_HEAP_HEADER_BYTES 16
#define CM_HEAP_MAX_BYTES (UINT64_C(64) << 20) /* of one that is looked at */
#define CM_HEAP_MIN_BYTES 4096		       /* of a collection; HDF5 reads this much first */

/* Do these bytes begin as a collection does? */
bool cm_heap_is_collection(const void *bytes, size_t n_bytes);

/* The size it claims; valid where cm_heap_is_collection(). */
uint64_t cm_heap_size(const void *bytes);

/* Check all objects of a whole collection: n_bytes is its claimed size. */
bool cm_heap_is_sound(const void *bytes, size_t n_bytes);

/* The greatest number of an object of a sound collection; 0: it has none. */
uint32_t cm_heap_last_object(const void *bytes, size_t n_bytes);

/*
 * The sizes of a sound collection's objects, by their numbers; all others are left as they are.
 * n_bytes: below 4 GiB.
 */
void cm_heap_list(const void *bytes, size_t n_bytes, uint32_t *sizes);

#endif
