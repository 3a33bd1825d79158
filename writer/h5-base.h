/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ground under every other h5-*.c: starting HDF5, closing its ids, and turning its errors into
 * ours.
 *
 *	rc = cm_h5_init(diag);
 *	id = H5Gopen2(...);
 *	if (id < 0)
 *		return cm_h5_fail(diag, -EINVAL, path, "cannot open the group");
 *	cm_h5_close(id);
 *
 * HDF5 prints nothing of its own and runs nothing at exit; it loads no filter plugins. Threads: one
 * at a time for the whole process. Errors: negative errno.
 */
#ifndef CALLMARK_WRITER_H5_BASE_H
#define CALLMARK_WRITER_H5_BASE_H

#include <hdf5.h>

#include "preload/diag.h"

/* Idempotent. Everything else in h5-*.c comes after it. -EIO when HDF5 cannot start. */
int cm_h5_init(struct cm_diag *diag);

/* Close an id of any kind but a file; H5I_INVALID_HID (or any negative one) is allowed. */
void cm_h5_close(hid_t id);

/*
 * "<path>: <what>: <deepest line of HDF5's error stack>" into diag, and empty that stack.
 * Returns rc.
 */
int cm_h5_fail(struct cm_diag *diag, int rc, const char *path, const char *what);

/*
 * Shared and never closed: a variable-length UTF-8 string; a scalar; a transfer list for data that
 * HDF5 converts (strings), whose buffer is small (the default one is 1 MiB, zeroed for every call);
 * a creation list for datasets inside the object header. Valid after cm_h5_init().
 */
hid_t cm_h5_string_type(void);
hid_t cm_h5_scalar(void);
hid_t cm_h5_small_transfer(void);
hid_t cm_h5_compact(void);

/*
 * A new group whose attributes stay in its object header, however many: a heap for them would cost
 * 4 KiB a group, and H5Ocopy of HDF5 1.10.8 crashes on variable-length attributes in such a heap.
 */
hid_t cm_h5_make_group(hid_t parent, const char *name);

#endif
