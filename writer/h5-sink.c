/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes to a new HDF5 file, with errors that stay known. */
#include "writer/h5-sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "writer/h5-base.h"
#include "writer/h5-driver.h"

/* Write-back is started in pieces of this size, so that the fsync at the end finds little to do. */
#define SYNC_BYTES (UINT64_C(32) << 20)
#define ALIGN_ABOVE (UINT64_C(256) << 10)
#define PAGE_BYTES 4096
#define META_BYTES (16 << 10) /* metadata stand together in pieces of this size */

void cm_h5_sink_init(struct cm_h5_sink *sink, int fd)
{
	*sink = (struct cm_h5_sink){.fd = fd};
}

void cm_h5_sink_drop(struct cm_h5_sink *sink)
{
	if (!sink->error)
		sink->error = -ECANCELED;
}

int cm_h5_sink_write(struct cm_h5_sink *sink, const void *data, size_t n_bytes, uint64_t offset)
{
	const char *from = data;
	size_t n_left = n_bytes;

	if (sink->error)
		return sink->error;
	while (n_left) {
		ssize_t n = pwrite(sink->fd, from, n_left, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			sink->error = n < 0 ? -errno : -ENOSPC;
			return sink->error;
		}
		from += n;
		offset += (uint64_t)n;
		n_left -= (size_t)n;
	}
	sink->n_unsynced += n_bytes;
	if (sink->n_unsynced >= SYNC_BYTES) {
		sink->n_unsynced = 0;
		/* Advice only; fsync decides. */
		(void)sync_file_range(sink->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	return 0;
}

static hid_t new_plist(struct cm_h5_sink *sink)
{
	hid_t plist = cm_h5_driver_plist(sink, -1);

	if (plist >= 0 && (H5Pset_libver_bounds(plist, H5F_LIBVER_V110, H5F_LIBVER_LATEST) < 0 ||
			   H5Pset_alignment(plist, ALIGN_ABOVE, PAGE_BYTES) < 0 ||
			   H5Pset_meta_block_size(plist, META_BYTES) < 0)) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	return plist;
}

int cm_h5_sink_create(struct cm_h5_sink *sink, const char *path, hid_t *ret_file,
		      struct cm_diag *diag)
{
	hid_t plist = new_plist(sink), file = H5I_INVALID_HID;

	if (plist >= 0)
		file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, plist);
	cm_h5_close(plist);
	if (file < 0)
		return cm_h5_sink_fail(sink, diag, path, "cannot make an HDF5 file");
	*ret_file = file;
	return 0;
}

int cm_h5_sink_close(struct cm_h5_sink *sink, hid_t file, const char *path, struct cm_diag *diag)
{
	if (file >= 0 && H5Fclose(file) < 0)
		return cm_h5_sink_fail(sink, diag, path, "cannot close the HDF5 file");
	/* A write that failed inside the close, which HDF5 may have taken as it came. */
	if (sink->error)
		return cm_h5_sink_fail(sink, diag, path, "cannot write");
	return 0;
}

int cm_h5_sink_fail(const struct cm_h5_sink *sink, struct cm_diag *diag, const char *path,
		    const char *what)
{
	if (!sink->error || sink->error == -ECANCELED)
		return cm_h5_fail(diag, -EIO, path, what);
	(void)H5Eclear2(H5E_DEFAULT); /* the system's reason is the better one */
	return cm_diag_set(diag, sink->error, "%s: %s: %s", path, what, strerror(-sink->error));
}
