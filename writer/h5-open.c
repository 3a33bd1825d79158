/* SPDX-License-Identifier: BSD-3-Clause */
/* Guarded opening of HDF5 files and objects. */
#include "writer/h5-open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/h5-base.h"
#include "writer/h5-driver.h"

/* Deflate makes at most 1,032 bytes of one; a page more for tiny chunks. */
#define MAX_RATIO 1100
#define MAX_CHUNK_BYTES (UINT64_C(256) << 20)
#define MAX_DIMS 2

static int open_regular(const char *path, int *ret_fd, struct cm_diag *diag)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0) {
		rc = -errno;
		return cm_diag_set(diag, rc, "%s: cannot open: %s", path, strerror(-rc));
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd); /* opened for reading only */
		return cm_diag_set(diag, -EINVAL, "%s: not a regular file", path);
	}
	*ret_fd = fd;
	return 0;
}

/* The heap check of our driver reads 8-byte lengths, which all files have in practice. */
static bool has_usual_sizes(hid_t file)
{
	hid_t plist = H5Fget_create_plist(file);
	size_t n_address = 0, n_length = 0;
	bool is_usual = plist >= 0 && H5Pget_sizes(plist, &n_address, &n_length) >= 0 &&
			n_address == 8 && n_length == 8;

	cm_h5_close(plist);
	return is_usual;
}

int cm_h5_open_file(const char *path, hid_t *ret_file, struct cm_diag *diag)
{
	hid_t plist, file = H5I_INVALID_HID;
	int fd = -1, rc = cm_h5_init(diag);

	if (rc == 0)
		rc = open_regular(path, &fd, diag);
	if (rc < 0)
		return rc;
	plist = cm_h5_driver_plist(NULL, fd);
	if (plist >= 0)
		file = H5Fopen(path, H5F_ACC_RDONLY, plist);
	cm_h5_close(plist);
	(void)close(fd); /* opened for reading only */
	if (file >= 0 && !has_usual_sizes(file)) {
		cm_h5_close_file(file);
		file = H5I_INVALID_HID;
	}
	if (file < 0)
		return cm_h5_fail(diag, -EINVAL, path, "not an HDF5 file, or a damaged one");
	*ret_file = file;
	return 0;
}

void cm_h5_close_file(hid_t file)
{
	if (file >= 0)
		(void)H5Fclose(file); /* opened for reading only */
}

hid_t cm_h5_open_child(hid_t parent, const char *name, H5I_type_t type)
{
	H5L_info_t info;
	hid_t id;

	if (strchr(name, '/') || strcmp(name, "") == 0 || strcmp(name, ".") == 0 ||
	    H5Lexists(parent, name, H5P_DEFAULT) <= 0 ||
	    H5Lget_info(parent, name, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
		return H5I_INVALID_HID;
	id = H5Oopen(parent, name, H5P_DEFAULT);
	if (id >= 0 && H5Iget_type(id) != type) {
		cm_h5_close(id);
		return H5I_INVALID_HID;
	}
	return id;
}

struct link_visit {
	int (*op)(void *ctx, const char *name, H5L_type_t type);
	void *ctx;
	int rc;
};

static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *ctx)
{
	struct link_visit *visit = ctx;

	(void)group;
	visit->rc = visit->op(visit->ctx, name, info->type);
	return visit->rc < 0 ? -1 : 0;
}

int cm_h5_each_link(hid_t group, int (*op)(void *ctx, const char *name, H5L_type_t type), void *ctx)
{
	struct link_visit visit = {op, ctx, 0};
	herr_t status = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit_link, &visit);

	if (visit.rc < 0)
		return visit.rc;
	return status < 0 ? -EINVAL : 0;
}

/* Chunks must have a size that memory has, and contain no more than their bytes can mean. */
static bool is_plausible_chunked(hid_t plist, int n_dims, uint64_t n_item_bytes, uint64_t n_bytes,
				 uint64_t n_stored)
{
	uint64_t n_chunk_bytes = n_item_bytes;
	hsize_t chunk[MAX_DIMS];

	if (H5Pget_chunk(plist, n_dims, chunk) != n_dims)
		return false;
	for (int i = 0; i < n_dims; i++)
		if (chunk[i] == 0 ||
		    __builtin_mul_overflow(chunk[i], n_chunk_bytes, &n_chunk_bytes))
			return false;
	return n_chunk_bytes <= MAX_CHUNK_BYTES && n_bytes / MAX_RATIO <= n_stored;
}

static bool is_plausible(hid_t set, hid_t plist, int n_dims, uint64_t n_item_bytes,
			 uint64_t n_bytes, uint64_t n_file_bytes)
{
	uint64_t n_stored = H5Dget_storage_size(set);
	haddr_t offset;

	if (n_stored > n_file_bytes || H5Pget_external_count(plist) != 0)
		return false;
	switch (H5Pget_layout(plist)) {
	case H5D_COMPACT:
		return n_stored >= n_bytes;
	case H5D_CONTIGUOUS:
		offset = H5Dget_offset(set);
		return n_stored == 0 || (n_stored >= n_bytes && offset != HADDR_UNDEF &&
					 offset <= n_file_bytes - n_stored);
	case H5D_CHUNKED:
		return is_plausible_chunked(plist, n_dims, n_item_bytes, n_bytes, n_stored);
	default:
		return false;
	}
}

/* All bytes of this shape; -EINVAL where that is more than there can be. */
static int count_bytes(hid_t space, int n_dims, uint64_t n_item_bytes, hsize_t *dims,
		       uint64_t *ret_n_bytes)
{
	uint64_t n_bytes = n_item_bytes;

	if (space < 0 || n_item_bytes == 0 || H5Sis_simple(space) <= 0 ||
	    H5Sget_simple_extent_ndims(space) != n_dims ||
	    H5Sget_simple_extent_dims(space, dims, NULL) != n_dims)
		return -EINVAL;
	for (int i = 0; i < n_dims; i++)
		if (__builtin_mul_overflow(dims[i], n_bytes, &n_bytes))
			return -EINVAL;
	*ret_n_bytes = n_bytes;
	return n_bytes <= INT64_MAX ? 0 : -EINVAL;
}

int cm_h5_get_shape(hid_t set, uint64_t n_file_bytes, int n_dims, hsize_t *ret_dims,
		    bool *ret_is_constant)
{
	hid_t space = H5Dget_space(set), plist = H5Dget_create_plist(set), type = H5Dget_type(set);
	uint64_t n_bytes, n_item_bytes = type < 0 ? 0 : H5Tget_size(type);
	hsize_t dims[MAX_DIMS];
	int rc = count_bytes(space, n_dims, n_item_bytes, dims, &n_bytes);

	if (rc == 0 &&
	    (plist < 0 || !is_plausible(set, plist, n_dims, n_item_bytes, n_bytes, n_file_bytes)))
		rc = -EINVAL;
	if (rc == 0) {
		memcpy(ret_dims, dims, (size_t)n_dims * sizeof(*dims));
		*ret_is_constant = n_bytes && H5Dget_storage_size(set) == 0;
	}
	cm_h5_close(type);
	cm_h5_close(plist);
	cm_h5_close(space);
	return rc;
}

int cm_h5_count_rows(hid_t set, uint64_t n_file_bytes, uint64_t *ret_n, bool *ret_is_constant)
{
	hsize_t n_rows;
	int rc = cm_h5_get_shape(set, n_file_bytes, 1, &n_rows, ret_is_constant);

	if (rc == 0)
		*ret_n = n_rows;
	return rc;
}
