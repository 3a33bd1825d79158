/* SPDX-License-Identifier: BSD-3-Clause */
/* Walk the objects of a global heap collection. */
#include "writer/heap-check.h"

#include <endian.h>
#include <string.h>

#define OBJECT_HEADER_BYTES 16
#define ALIGNMENT 8

static uint64_t read_u64(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

static uint16_t read_u16(const unsigned char *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

bool cm_heap_is_collection(const void *bytes, size_t n_bytes)
{
	return n_bytes >= CM_HEAP_HEADER_BYTES && memcmp(bytes, "GCOL\1", 5) == 0;
}

uint64_t cm_heap_size(const void *bytes)
{
	return read_u64((const unsigned char *)bytes + 8);
}

/* Bytes the object at `object` takes, header and padding included; 0: it does not fit. */
static uint64_t object_bytes(const unsigned char *object, uint64_t n_left)
{
	uint64_t size = read_u64(object + 8);

	if (size > n_left)
		return 0;
	if (read_u16(object) == 0) /* free space: its size counts the header */
		return size;
	size = (size + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
	return size + OBJECT_HEADER_BYTES <= n_left ? size + OBJECT_HEADER_BYTES : 0;
}

bool cm_heap_is_sound(const void *bytes, size_t n_bytes)
{
	const unsigned char *heap = bytes;
	uint64_t at = CM_HEAP_HEADER_BYTES;
	bool has_free = false;

	if (n_bytes < CM_HEAP_MIN_BYTES || cm_heap_size(bytes) != n_bytes)
		return false;
	while (n_bytes - at >= OBJECT_HEADER_BYTES) {
		uint64_t n = object_bytes(heap + at, n_bytes - at);

		if (n == 0)
			return false;
		if (read_u16(heap + at) == 0) {
			if (has_free)
				return false; /* there is one, the last */
			has_free = true;
		}
		at += n;
	}
	return true;
}

uint32_t cm_heap_last_object(const void *bytes, size_t n_bytes)
{
	const unsigned char *heap = bytes;
	uint32_t last = 0;

	for (uint64_t at = CM_HEAP_HEADER_BYTES; n_bytes - at >= OBJECT_HEADER_BYTES;
	     at += object_bytes(heap + at, n_bytes - at))
		if (read_u16(heap + at) > last)
			last = read_u16(heap + at);
	return last;
}

void cm_heap_list(const void *bytes, size_t n_bytes, uint32_t *sizes)
{
	const unsigned char *heap = bytes;

	for (uint64_t at = CM_HEAP_HEADER_BYTES; n_bytes - at >= OBJECT_HEADER_BYTES;
	     at += object_bytes(heap + at, n_bytes - at))
		if (read_u16(heap + at) != 0)
			sizes[read_u16(heap + at)] = (uint32_t)read_u64(heap + at + 8);
}
