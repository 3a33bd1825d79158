/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of a trace: contiguous and written beside HDF5, or chunked and compressed by it. */
#include "writer/h5-trace.h"

#include <errno.h>

#include "writer/h5-base.h"
#include "writer/h5-schema.h"

/* Below this a chunk index and deflate's own frame eat what compression gains. */
#define MIN_CHUNKED_ROWS 256

enum column {
	COLUMN_START,
	COLUMN_END,
	COLUMN_THREAD,
};

static const struct {
	const char *name;
	size_t n_bytes;
} columns[CM_H5_N_COLUMNS] = {
	[COLUMN_START] = {CM_H5_START_TIMES, sizeof(int64_t)},
	[COLUMN_END] = {CM_H5_END_TIMES, sizeof(int64_t)},
	[COLUMN_THREAD] = {CM_H5_REGION_THREADS, sizeof(int32_t)},
};

static hid_t column_type(enum column column)
{
	return column == COLUMN_THREAD ? H5T_NATIVE_INT32 : H5T_NATIVE_INT64;
}

/*
 * Reserve the place now and never fill it: every byte of it will be written. The same for all
 * regions, so it is made once and never closed.
 */
static hid_t contiguous_plist(void)
{
	static hid_t shared = H5I_INVALID_HID;
	hid_t plist;

	if (shared >= 0)
		return shared;
	plist = H5Pcreate(H5P_DATASET_CREATE);
	if (plist >= 0 && (H5Pset_layout(plist, H5D_CONTIGUOUS) < 0 ||
			   H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) < 0 ||
			   H5Pset_fill_time(plist, H5D_FILL_TIME_NEVER) < 0)) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	shared = plist;
	return plist;
}

static hid_t chunked_plist(size_t n_chunk_rows, int level)
{
	hsize_t dims = n_chunk_rows;
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);

	if (plist >= 0 && (H5Pset_chunk(plist, 1, &dims) < 0 || H5Pset_shuffle(plist) < 0 ||
			   H5Pset_deflate(plist, (unsigned)level) < 0)) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	return plist;
}

/* Nothing is ever allocated: readers get the fill value. */
static hid_t constant_plist(int32_t value)
{
	hid_t plist = H5Pcreate(H5P_DATASET_CREATE);

	if (plist >= 0 && (H5Pset_alloc_time(plist, H5D_ALLOC_TIME_LATE) < 0 ||
			   H5Pset_fill_value(plist, H5T_NATIVE_INT32, &value) < 0)) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	return plist;
}

/* Whole chunks are written, once: a cache would only copy them. Made once, as above. */
static hid_t access_plist(void)
{
	static hid_t shared = H5I_INVALID_HID;
	hid_t plist;

	if (shared >= 0)
		return shared;
	plist = H5Pcreate(H5P_DATASET_ACCESS);
	if (plist >= 0 && H5Pset_chunk_cache(plist, 1, 0, 1.0) < 0) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	shared = plist;
	return plist;
}

static int create_column(struct cm_h5_trace *trace, enum column column, hid_t group, hid_t space,
			 hid_t create, hid_t access)
{
	haddr_t offset;

	if (create < 0)
		return -EIO;
	trace->sets[column] = H5Dcreate2(group, columns[column].name, column_type(column), space,
					 H5P_DEFAULT, create, access);
	if (trace->sets[column] < 0)
		return -EIO;
	if (H5Pget_layout(create) == H5D_CHUNKED)
		return 0;
	offset = H5Dget_offset(trace->sets[column]);
	trace->offsets[column] = offset;
	cm_h5_close(trace->sets[column]);
	trace->sets[column] = H5I_INVALID_HID;
	return 0;
}

/* An empty or constant column has no place (HADDR_UNDEF), and none is written to. */
static int check_offsets(const struct cm_h5_trace *trace, uint64_t n_rows)
{
	for (int i = 0; i < CM_H5_N_COLUMNS; i++) {
		if (i == COLUMN_THREAD && trace->one_thread)
			continue;
		if (n_rows && !trace->is_chunked && trace->offsets[i] == HADDR_UNDEF)
			return -EIO;
	}
	return 0;
}

int cm_h5_trace_create(struct cm_h5_trace *trace, hid_t group,
		       const struct cm_profile_region *region, size_t n_chunk_rows, int level)
{
	hsize_t dims = region->n_trace;
	hid_t space = H5Screate_simple(1, &dims, NULL), access = access_plist();
	hid_t create = H5I_INVALID_HID, constant = H5I_INVALID_HID;
	int rc = space < 0 || access < 0 ? -EIO : 0;

	*trace = (struct cm_h5_trace){
		.is_made = true,
		.is_chunked = level && region->n_trace >= MIN_CHUNKED_ROWS,
		.one_thread = region->one_thread,
		.sets = {H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID},
	};
	create = trace->is_chunked ? chunked_plist(n_chunk_rows, level) : contiguous_plist();
	if (trace->one_thread)
		constant = constant_plist(region->thread);
	for (int i = 0; i < CM_H5_N_COLUMNS && rc == 0; i++) {
		bool is_constant = i == COLUMN_THREAD && trace->one_thread;

		rc = create_column(trace, i, group, space, is_constant ? constant : create, access);
	}
	if (rc == 0)
		rc = check_offsets(trace, region->n_trace);
	trace->is_open = trace->is_chunked;
	if (rc < 0)
		cm_h5_trace_close(trace);
	if (trace->is_chunked)
		cm_h5_close(create);
	cm_h5_close(constant);
	cm_h5_close(space);
	return rc;
}

int cm_h5_trace_open(struct cm_h5_trace *trace, hid_t group)
{
	hid_t access = access_plist();
	int rc = access < 0 ? -EIO : 0;

	for (int i = 0; i < CM_H5_N_COLUMNS && rc == 0; i++) {
		if (i == COLUMN_THREAD && trace->one_thread)
			continue;
		trace->sets[i] = H5Dopen2(group, columns[i].name, access);
		if (trace->sets[i] < 0)
			rc = -EIO;
	}
	trace->is_open = true;
	if (rc < 0)
		cm_h5_trace_close(trace);
	return rc;
}

void cm_h5_trace_close(struct cm_h5_trace *trace)
{
	for (int i = 0; i < CM_H5_N_COLUMNS; i++) {
		cm_h5_close(trace->sets[i]);
		trace->sets[i] = H5I_INVALID_HID;
	}
	trace->is_open = false;
}

static int write_chunked(const struct cm_h5_trace *trace, hsize_t first, hsize_t n,
			 const void *const data[])
{
	hid_t memory = H5Screate_simple(1, &n, NULL);
	int rc = memory < 0 ? -EIO : 0;

	for (int i = 0; i < CM_H5_N_COLUMNS && rc == 0; i++) {
		hid_t space;

		if (!data[i])
			continue;
		space = H5Dget_space(trace->sets[i]);
		if (space < 0 ||
		    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &n, NULL) < 0 ||
		    H5Dwrite(trace->sets[i], column_type(i), memory, space, H5P_DEFAULT, data[i]) <
			    0)
			rc = -EIO;
		cm_h5_close(space);
	}
	cm_h5_close(memory);
	return rc;
}

int cm_h5_trace_write(const struct cm_h5_trace *trace, struct cm_h5_sink *sink, uint64_t first,
		      const int64_t *starts, const int64_t *ends, const int32_t *threads, size_t n)
{
	const void *const data[CM_H5_N_COLUMNS] = {starts, ends,
						   trace->one_thread ? NULL : threads};
	int rc = 0;

	if (trace->is_chunked)
		return write_chunked(trace, first, n, data);
	for (int i = 0; i < CM_H5_N_COLUMNS && rc == 0; i++)
		if (data[i])
			rc = cm_h5_sink_write(sink, data[i], n * columns[i].n_bytes,
					      trace->offsets[i] + first * columns[i].n_bytes);
	return rc;
}
