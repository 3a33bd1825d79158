/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 file driver over a descriptor. */
#include "writer/h5-driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef H5FD_CLASS_VERSION
#include <H5FDdevelop.h>
#endif

#include "writer/h5-base.h"
#include "writer/h5-sink.h"
#include "writer/heap-check.h"

#define SIEVE_BYTES 4096

/* What an access list carries; HDF5 copies it. */
struct driver_info {
	struct cm_h5_sink *sink; /* NULL: reading */
	int fd;			 /* reading */
};

struct driver_file {
	H5FD_t base;		 /* first: HDF5 casts */
	struct cm_h5_sink *sink; /* NULL: reading */
	int fd;			 /* the sink's, or our own duplicate */
	haddr_t eoa;		 /* end of what is allocated */
	haddr_t eof;		 /* end of the file as opened or written through HDF5 */
};

static struct driver_file *of(H5FD_t *file)
{
	return (struct driver_file *)file;
}

static const struct driver_file *of_const(const H5FD_t *file)
{
	return (const struct driver_file *)file;
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
	const struct driver_info *info = H5Pget_driver_info(fapl);
	struct driver_file *file = calloc(1, sizeof(*file));
	struct stat st;

	(void)name; /* the descriptor is the file */
	(void)maxaddr;
	if (!info || !file)
		goto fail;
	file->sink = info->sink;
	file->fd = info->sink ? info->sink->fd : fcntl(info->fd, F_DUPFD_CLOEXEC, 3);
	if (file->fd < 0)
		goto fail;
	if (((flags & H5F_ACC_TRUNC) && ftruncate(file->fd, 0) < 0) || fstat(file->fd, &st) < 0) {
		if (!file->sink)
			(void)close(file->fd); /* nothing was written */
		goto fail;
	}
	file->eof = (haddr_t)st.st_size;
	return &file->base;
fail:
	free(file);
	return NULL;
}

static herr_t driver_close(H5FD_t *file)
{
	if (!of(file)->sink)
		(void)close(of(file)->fd); /* it was only read */
	free(file);
	return 0;
}

static int driver_cmp(const H5FD_t *a, const H5FD_t *b)
{
	return a == b ? 0 : (uintptr_t)a < (uintptr_t)b ? -1 : 1;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
	(void)file;
	/* No accumulator: it would merge heap reads with others, and our writes pass it by. */
	if (flags)
		*flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA_WRITE |
			 H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA |
			 H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
	return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return of_const(file)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t addr)
{
	(void)type;
	of(file)->eoa = addr;
	return 0;
}

static haddr_t driver_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
	(void)type;
	return of_const(file)->eof;
}

int cm_h5_read_at(int fd, void *buf, size_t n_bytes, uint64_t offset)
{
	char *to = buf;

	while (n_bytes) {
		ssize_t n = pread(fd, to, n_bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0) {
			memset(to, 0, n_bytes);
			break;
		}
		to += n;
		offset += (uint64_t)n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

/* `start` is the first piece of a collection at offset; the rest of it is read to check it. */
static bool is_sound_heap(const struct driver_file *file, const void *start, haddr_t offset)
{
	uint64_t n_bytes = cm_heap_size(start);
	bool is_sound;
	void *heap;

	if (n_bytes > CM_HEAP_MAX_BYTES || n_bytes > file->eof || offset > file->eof - n_bytes)
		return false;
	heap = malloc(n_bytes + 1);
	is_sound = heap && cm_h5_read_at(file->fd, heap, n_bytes, offset) == 0 &&
		   cm_heap_is_sound(heap, n_bytes);
	free(heap);
	return is_sound;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t n_bytes,
			  void *buf)
{
	const struct driver_file *self = of_const(file);

	(void)dxpl;
	if (cm_h5_read_at(self->fd, buf, n_bytes, addr) < 0)
		return -1;
	/*
	 * HDF5 reads heaps as raw data, a first piece of at most this size. Rows of a trace that
	 * look like one are a start of 5,575,230,279 ns in a short read, and unsound as a heap.
	 */
	if (!self->sink && (type == H5FD_MEM_DRAW || type == H5FD_MEM_GHEAP) &&
	    n_bytes <= CM_HEAP_MIN_BYTES && cm_heap_is_collection(buf, n_bytes) &&
	    !is_sound_heap(self, buf, addr))
		return -1;
	return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t n_bytes,
			   const void *data)
{
	struct driver_file *self = of(file);

	(void)type;
	(void)dxpl;
	if (!self->sink)
		return -1;
	(void)cm_h5_sink_write(self->sink, data, n_bytes, addr); /* the sink keeps it: see above */
	if (addr + n_bytes > self->eof)
		self->eof = addr + n_bytes;
	return 0;
}

/* The descriptor, for who looks at the file beside HDF5. */
static herr_t driver_get_handle(H5FD_t *file, hid_t fapl, void **handle)
{
	(void)fapl;
	*handle = &of(file)->fd;
	return 0;
}

/* Bulk data is written beside HDF5, so the real size decides, not eof. */
static herr_t driver_truncate(H5FD_t *file, hid_t dxpl, hbool_t closing)
{
	struct driver_file *self = of(file);
	struct stat st;

	(void)dxpl;
	(void)closing;
	if (!self->sink)
		return 0;
	if (!self->sink->error &&
	    (fstat(self->fd, &st) < 0 ||
	     ((haddr_t)st.st_size != self->eoa && ftruncate(self->fd, (off_t)self->eoa) < 0)))
		self->sink->error = -errno;
	self->eof = self->eoa;
	return 0;
}

static const H5FD_class_t driver_class = {
#ifdef H5FD_CLASS_VERSION
	.version = H5FD_CLASS_VERSION,
	.value = (H5FD_class_value_t)600, /* 512 and above are for private drivers */
#endif
	.name = "callmark",
	.maxaddr = INT64_MAX,
	.fc_degree = H5F_CLOSE_STRONG,
	.fapl_size = sizeof(struct driver_info),
	.open = driver_open,
	.close = driver_close,
	.cmp = driver_cmp,
	.query = driver_query,
	.get_eoa = driver_get_eoa,
	.set_eoa = driver_set_eoa,
	.get_eof = driver_get_eof,
	.read = driver_read,
	.write = driver_write,
	.get_handle = driver_get_handle,
	.truncate = driver_truncate,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t cm_h5_driver_plist(struct cm_h5_sink *sink, int fd)
{
	static hid_t driver = H5I_INVALID_HID;
	struct driver_info info = {sink, fd};
	hid_t plist;

	if (driver < 0)
		driver = H5FDregister(&driver_class);
	plist = H5Pcreate(H5P_FILE_ACCESS);
	/* 64 KiB, cleared for each dataset, is most of the work of opening thousands of ranks. */
	if (driver < 0 || plist < 0 || H5Pset_driver(plist, driver, &info) < 0 ||
	    H5Pset_sieve_buf_size(plist, SIEVE_BYTES) < 0) {
		cm_h5_close(plist);
		return H5I_INVALID_HID;
	}
	return plist;
}
