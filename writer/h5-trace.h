/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traces of one region while they are written: start_times, end_times, threads.
 *
 *	rc = cm_h5_trace_create(&trace, group, region, n_chunk_rows, level);
 *	rc = cm_h5_trace_write(&trace, &sink, first, starts, ends, threads, n);     many times
 *	cm_h5_trace_close(&trace);      and cm_h5_trace_open(&trace, group) to go on later
 *
 * Uncompressed columns are contiguous: HDF5 reserves their place once, rows go there with pwrite,
 * and nothing of HDF5 stays open (5,000 regions cost 5,000 of these structs). Compressed columns
 * are chunked and go through HDF5, whose datasets stay open until cm_h5_trace_close(). The threads
 * of a region with one thread are a fill value and take no room.
 * Errors: negative errno; -EIO with HDF5's error stack left for cm_h5_sink_fail(). One at a time.
 */
#ifndef CALLMARK_WRITER_H5_TRACE_H
#define CALLMARK_WRITER_H5_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <hdf5.h>

#include "collector/profile.h"
#include "writer/h5-sink.h"

#define CM_H5_N_COLUMNS 3

struct cm_h5_trace {
	bool is_made;
	bool is_chunked;
	bool is_open;			   /* chunked: the ids are valid */
	bool one_thread;		   /* the third column is never written */
	hid_t sets[CM_H5_N_COLUMNS];	   /* chunked */
	uint64_t offsets[CM_H5_N_COLUMNS]; /* contiguous: bytes in the file */
};

/* level: of deflate, 0 for none. Regions too small to gain anything stay contiguous. */
int cm_h5_trace_create(struct cm_h5_trace *trace, hid_t group,
		       const struct cm_profile_region *region, size_t n_chunk_rows, int level);

int cm_h5_trace_open(struct cm_h5_trace *trace, hid_t group);
void cm_h5_trace_close(struct cm_h5_trace *trace);

/* Rows first..first+n-1, which must be inside the region's n_trace. threads: see writer.h. */
int cm_h5_trace_write(const struct cm_h5_trace *trace, struct cm_h5_sink *sink, uint64_t first,
		      const int64_t *starts, const int64_t *ends, const int32_t *threads, size_t n);

#endif
