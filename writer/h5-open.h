/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening files and their objects without trusting them.
 *
 * Only hard links to the expected kind of object are followed: a soft or external link, a name
 * with '/' in it, a dataset whose data stands in another file are "not there". Sizes are compared
 * with what is really stored before anything is allocated, and heaps are checked before HDF5 reads
 * them (h5-driver.h). For the rest HDF5's own decoder is as good as it is.
 * Threads: one at a time. Errors: negative errno, a line in diag where there is one.
 */
#ifndef CALLMARK_WRITER_H5_OPEN_H
#define CALLMARK_WRITER_H5_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include <hdf5.h>

#include "preload/diag.h"

/*
 * Open for reading, without file locks: files are only ever replaced as a whole. Close with
 * cm_h5_close_file(). -ENOENT, -EACCES, -EINVAL: no regular file, not HDF5, cut off.
 */
int cm_h5_open_file(const char *path, hid_t *ret_file, struct cm_diag *diag);
void cm_h5_close_file(hid_t file);

/*
 * A group or dataset (H5I_GROUP, H5I_DATASET) right under `parent`; H5I_INVALID_HID where there is
 * none of that kind. Close with cm_h5_close().
 */
hid_t cm_h5_open_child(hid_t parent, const char *name, H5I_type_t type);

/* Call op for every link of a group, in order of names; op < 0 ends it and is returned. */
int cm_h5_each_link(hid_t group, int (*op)(void *ctx, const char *name, H5L_type_t type),
		    void *ctx);

/*
 * The shape of a dataset of n_dims (1 or 2) dimensions whose data is really in the file
 * (n_file_bytes long). *ret_is_constant: nothing is stored, all reads as the fill value. -EINVAL.
 */
int cm_h5_get_shape(hid_t set, uint64_t n_file_bytes, int n_dims, hsize_t *ret_dims,
		    bool *ret_is_constant);

/* The same for one dimension. */
int cm_h5_count_rows(hid_t set, uint64_t n_file_bytes, uint64_t *ret_n, bool *ret_is_constant);

#endif
