/* SPDX-License-Identifier: BSD-3-Clause */
/* References of variable strings, read as they stand in the file. */
#include "writer/h5-references.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-driver.h"
#include "writer/heap-check.h"

#define N_PIECE 256

/* As in the file; x86-64 has its byte order. */
struct reference {
	uint32_t n_bytes;
	uint32_t address[2]; /* of the collection, from the base; 0: no string */
	uint32_t object;
} __attribute__((packed));

/* The collection that was looked at last. */
struct heap {
	int fd;
	uint64_t base; /* bytes before what addresses are counted from */
	uint64_t address;
	uint32_t *sizes; /* by number; UINT32_MAX: there is none */
	uint32_t n_sizes;
};

/* The collection stands whole in memory. */
static int list_objects(struct heap *heap, const unsigned char *bytes, uint64_t n_bytes)
{
	uint32_t n = cm_heap_last_object(bytes, n_bytes) + 1;
	uint32_t *sizes = realloc(heap->sizes, n * sizeof(*sizes));

	if (!sizes)
		return -ENOMEM;
	memset(sizes, 0xff, n * sizeof(*sizes));
	cm_heap_list(bytes, n_bytes, sizes);
	heap->sizes = sizes;
	heap->n_sizes = n;
	return 0;
}

static int load_heap(struct heap *heap, uint64_t address)
{
	unsigned char head[CM_HEAP_HEADER_BYTES], *bytes;
	uint64_t n_bytes, offset = heap->base + address;
	int rc;

	if (offset < address || offset > INT64_MAX ||
	    cm_h5_read_at(heap->fd, head, sizeof(head), offset))
		return -EINVAL;
	n_bytes = cm_heap_is_collection(head, sizeof(head)) ? cm_heap_size(head) : 0;
	if (n_bytes == 0 || n_bytes > CM_HEAP_MAX_BYTES)
		return -EINVAL;
	bytes = malloc(n_bytes);
	if (!bytes)
		return -ENOMEM;
	rc = cm_h5_read_at(heap->fd, bytes, n_bytes, offset);
	if (rc == 0)
		rc = cm_heap_is_sound(bytes, n_bytes) ? list_objects(heap, bytes, n_bytes)
						      : -EINVAL;
	if (rc == 0)
		heap->address = address;
	free(bytes);
	return rc;
}

static int check(struct heap *heap, const struct reference *reference)
{
	uint64_t address = reference->address[0] | (uint64_t)reference->address[1] << 32;
	int rc = 0;

	if (address == 0)
		return 0;
	if (address != heap->address)
		rc = load_heap(heap, address);
	if (rc == 0 && (reference->object == 0 || reference->object >= heap->n_sizes ||
			heap->sizes[reference->object] == UINT32_MAX ||
			heap->sizes[reference->object] != reference->n_bytes))
		rc = -EINVAL;
	return rc;
}

/* Where addresses begin: behind what a user may have put in front. */
static int find_file(hid_t set, struct heap *heap)
{
	hid_t file = H5Iget_file_id(set), plist = file < 0 ? -1 : H5Fget_create_plist(file);
	hsize_t n_before = 0;
	void *handle = NULL;
	int rc = -EINVAL;

	if (plist >= 0 && H5Pget_userblock(plist, &n_before) >= 0 &&
	    H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle) {
		heap->fd = *(const int *)handle;
		heap->base = n_before;
		rc = 0;
	}
	cm_h5_close(plist);
	cm_h5_close(file);
	return rc;
}

int cm_h5_check_references(hid_t set, uint64_t n)
{
	haddr_t start = H5Dget_offset(set);
	struct reference piece[N_PIECE];
	struct heap heap = {0};
	int rc;

	if (start == HADDR_UNDEF)
		return 0; /* in its header, which has a checksum; in chunks; or nowhere yet */
	rc = find_file(set, &heap);
	for (uint64_t first = 0, n_piece; first < n && rc == 0; first += n_piece) {
		n_piece = n - first < N_PIECE ? n - first : N_PIECE;
		rc = cm_h5_read_at(heap.fd, piece, n_piece * sizeof(*piece),
				   start + first * sizeof(*piece));
		for (uint64_t i = 0; i < n_piece && rc == 0; i++)
			rc = check(&heap, &piece[i]);
	}
	free(heap.sizes);
	return rc;
}
