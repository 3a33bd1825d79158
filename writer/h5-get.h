/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading small attributes and datasets, the counterpart of h5-put.h, from files that may be
 * anything (h5-open.h).
 *
 * Functions that look something up return 1 when it was there, 0 when not (the out-parameters stay
 * as they are), -EINVAL when it has another type than the layout says or cannot be read, -ENOMEM
 * or -EFBIG for the store's limit. Texts live in the store. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_GET_H
#define CALLMARK_WRITER_H5_GET_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

#include "collector/profile.h"
#include "writer/text-store.h"

int cm_h5_get_integer(hid_t loc, const char *name, int64_t *ret_value);
int cm_h5_get_real(hid_t loc, const char *name, double *ret_value);
int cm_h5_get_string(hid_t loc, const char *name, struct cm_text_store *store,
		     const char **ret_text);
int cm_h5_get_integers(hid_t loc, const char *name, struct cm_text_store *store,
		       const int64_t **ret_values, size_t *ret_n);

/* string[]; one without elements may be of any type. */
int cm_h5_get_strings(hid_t loc, const char *name, struct cm_text_store *store,
		      const char *const **ret_texts, size_t *ret_n);

/* uint8[] as a string; one with a NUL inside is -EINVAL. */
int cm_h5_get_bytes(hid_t loc, const char *name, struct cm_text_store *store,
		    const char **ret_text);

/*
 * All attributes that are an integer, a real number (as text), a string or a list of strings; the
 * others are passed over.
 */
int cm_h5_get_metadata(hid_t group, struct cm_text_store *store, const struct cm_meta **ret_meta,
		       size_t *ret_n);

/* Datasets right under `parent`. */
int cm_h5_get_list(hid_t parent, const char *name, uint64_t n_file_bytes,
		   struct cm_text_store *store, const char *const **ret_texts, size_t *ret_n);
int cm_h5_get_array(hid_t parent, const char *name, uint64_t n_file_bytes,
		    struct cm_text_store *store, const int64_t **ret_values, size_t *ret_n);
int cm_h5_get_reals(hid_t parent, const char *name, uint64_t n_file_bytes,
		    struct cm_text_store *store, const double **ret_values, size_t *ret_n);

/* Numbers in two dimensions; an empty dataset of another shape has 0 rows. */
int cm_h5_get_matrix(hid_t parent, const char *name, uint64_t n_file_bytes,
		     struct cm_text_store *store, const double **ret_values, size_t *ret_n_rows,
		     size_t *ret_n_columns);

#endif
