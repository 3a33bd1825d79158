/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings out of attributes and datasets, of whatever string type a file uses.
 *
 * Texts are NUL-terminated copies in the store, bytes unchanged; a missing one is "".
 * -EINVAL (no strings, not readable), -ENOMEM, -EFBIG (the store's limit). One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_TEXTS_H
#define CALLMARK_WRITER_H5_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

#include "writer/text-store.h"

/* All n strings of an attribute, whose own type is given. */
int cm_h5_texts_of_attribute(hid_t attr, hid_t type, size_t n, struct cm_text_store *store,
			     const char *const **ret_texts);

/* All n rows of a one-dimensional dataset (cm_h5_count_rows), read in pieces. */
int cm_h5_texts_of_dataset(hid_t set, uint64_t n, struct cm_text_store *store,
			   const char *const **ret_texts);

#endif
