/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file under a new HDF5 file, and what became of its writes.
 *
 *	struct cm_h5_sink sink;
 *	cm_h5_sink_init(&sink, fd);
 *	rc = cm_h5_sink_create(&sink, path, &file, diag);
 *	rc = cm_h5_sink_write(&sink, rows, n_bytes, offset);      beside HDF5: bulk data
 *	rc = cm_h5_sink_close(&sink, file, path, diag);           the descriptor stays open
 *
 * HDF5 writes through h5-driver.h and is never told of a failure: `error` is the truth about the
 * file, to be looked at after HDF5 calls; it is the system's reason, which HDF5 would hide in a
 * text. Once it is set nothing more is written. Threads: one at a time.
 */
#ifndef CALLMARK_WRITER_H5_SINK_H
#define CALLMARK_WRITER_H5_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <hdf5.h>

#include "preload/diag.h"

struct cm_h5_sink {
	int fd;		     /* borrowed */
	int error;	     /* 0, or the negative errno of the first write that failed */
	uint64_t n_unsynced; /* bytes since write-back was last started */
};

void cm_h5_sink_init(struct cm_h5_sink *sink, int fd);

/*
 * Make an empty HDF5 file on the descriptor, of the format that HDF5 1.10 and later read.
 * The id's file must go through cm_h5_sink_close().
 */
int cm_h5_sink_create(struct cm_h5_sink *sink, const char *path, hid_t *ret_file,
		      struct cm_diag *diag);

/* Write at a byte offset that HDF5 allocated (H5Dget_offset). Returns the sink's error. */
int cm_h5_sink_write(struct cm_h5_sink *sink, const void *data, size_t n_bytes, uint64_t offset);

/* From now on nothing is written: call it before closing a file that is not wanted. */
void cm_h5_sink_drop(struct cm_h5_sink *sink);

/* Close and say whether everything arrived. A negative file is allowed. */
int cm_h5_sink_close(struct cm_h5_sink *sink, hid_t file, const char *path, struct cm_diag *diag);

/* The error to return after an HDF5 call failed on this file: the system's, where it has one. */
int cm_h5_sink_fail(const struct cm_h5_sink *sink, struct cm_diag *diag, const char *path,
		    const char *what);

#endif
