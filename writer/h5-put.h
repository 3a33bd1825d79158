/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small attributes and datasets, written in one call each (the traces have h5-trace.h).
 *
 * All texts are cleaned on the way (writer/utf8.h); NULL is written as "". `loc` is a file, group
 * or dataset. Errors: -EIO with HDF5's own error stack left for cm_h5_sink_fail(), -ENOMEM.
 * Threads: one at a time.
 */
#ifndef CALLMARK_WRITER_H5_PUT_H
#define CALLMARK_WRITER_H5_PUT_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

/*
 * An attribute holds 64 KiB; one that is larger goes into a heap of HDF5, which H5Ocopy does not
 * survive (h5-base.h). Lists and bytes are cut there.
 */
#define CM_H5_PUT_MAX_STRINGS 4000
#define CM_H5_PUT_MAX_BYTES 60000

int cm_h5_put_integer(hid_t loc, const char *name, int64_t value);
int cm_h5_put_real(hid_t loc, const char *name, double value);
int cm_h5_put_string(hid_t loc, const char *name, const char *text);
int cm_h5_put_integers(hid_t loc, const char *name, const int64_t *values, size_t n);
int cm_h5_put_strings(hid_t loc, const char *name, const char *const *texts, size_t n);
int cm_h5_put_bytes(hid_t loc, const char *name, const char *bytes, size_t n);

/* A one-dimensional dataset of n values; memory and file type are the same. */
int cm_h5_put_array(hid_t loc, const char *name, hid_t type, const void *values, size_t n);

/* A float64 dataset of that shape; either may be 0. */
int cm_h5_put_matrix(hid_t loc, const char *name, const double *values, size_t n_rows,
		     size_t n_columns);

/*
 * A one-dimensional dataset of n rows, each of n_members strings: text(ctx, row, member).
 * `type` is a string type, or a compound of n_members strings in memory order.
 */
int cm_h5_put_table(hid_t loc, const char *name, hid_t type, size_t n_members,
		    const char *(*text)(const void *ctx, size_t row, size_t member),
		    const void *ctx, size_t n);

/* cm_h5_put_table for a plain list of strings. */
int cm_h5_put_list(hid_t loc, const char *name, const char *const *texts, size_t n);

#endif
