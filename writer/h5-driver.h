/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small HDF5 file driver over a descriptor that we own, for reading and for writing.
 *
 * Reading: global heaps are checked before HDF5 sees them (heap-check.h). Writing: HDF5 never hears
 * of a failed write. The first failure is kept in the sink, all later writes are dropped, and
 * whoever called HDF5 asks the sink. HDF5's own error paths after a failed write are the ones that
 * crash (H5Ocopy closes a type twice) or leave files half open that are written again at exit.
 * Threads: one at a time.
 */
#ifndef CALLMARK_WRITER_H5_DRIVER_H
#define CALLMARK_WRITER_H5_DRIVER_H

#include <hdf5.h>

struct cm_h5_sink;

/*
 * A new file access list for H5Fcreate() over sink->fd (sink: until the file is closed), or, with
 * sink NULL, for H5Fopen() over fd, which may be closed once the file is open. The name given to
 * HDF5 is not used; H5Fget_vfd_handle() gives an int *. H5I_INVALID_HID on failure; close with
 * cm_h5_close().
 */
hid_t cm_h5_driver_plist(struct cm_h5_sink *sink, int fd);

/*
 * All n_bytes at the offset, or a negative errno. Zeros behind the end: allocated and not yet
 * written, as HDF5's own driver gives them.
 */
int cm_h5_read_at(int fd, void *buf, size_t n_bytes, uint64_t offset);

#endif
