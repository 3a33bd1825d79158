/* SPDX-License-Identifier: BSD-3-Clause */
/* Heap collections that HDF5 may be given: writer/heap-check.h. */
#include <criterion/criterion.h>

#include <string.h>

#include "writer/heap-check.h"

static unsigned char heap[4096];

static void put_u64(size_t at, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		heap[at + i] = (unsigned char)(value >> 8 * i);
}

/* An object header at `at`. */
static void put_object(size_t at, unsigned idx, uint64_t size)
{
	heap[at] = (unsigned char)idx;
	heap[at + 1] = (unsigned char)(idx >> 8);
	put_u64(at + 8, size);
}

/* One object of 5 bytes, then free space to the end. */
static void setup(void)
{
	memset(heap, 0, sizeof(heap));
	memcpy(heap, "GCOL\1", 5);
	put_u64(8, sizeof(heap));
	put_object(16, 1, 5);
	put_object(40, 0, sizeof(heap) - 40);
}

TestSuite(heap_check, .init = setup);

Test(heap_check, a_good_one_is_sound)
{
	cr_assert(cm_heap_is_collection(heap, sizeof(heap)));
	cr_assert_eq(cm_heap_size(heap), sizeof(heap));
	cr_assert(cm_heap_is_sound(heap, sizeof(heap)));
}

Test(heap_check, a_full_one_needs_no_free_space)
{
	put_object(40, 2, sizeof(heap) - 40 - 16);
	cr_assert(cm_heap_is_sound(heap, sizeof(heap)));
}

Test(heap_check, a_rest_too_small_for_a_header_is_free)
{
	put_object(40, 2, sizeof(heap) - 40 - 16 - 8);
	cr_assert(cm_heap_is_sound(heap, sizeof(heap)));
}

Test(heap_check, sizes_that_lie_are_not)
{
	static const uint64_t sizes[] = {0, 1u << 20, UINT64_MAX, UINT64_MAX - 7, 5000};

	for (size_t i = 1; i < 5; i++) {
		put_object(16, 1, sizes[i]);
		cr_assert_not(cm_heap_is_sound(heap, sizeof(heap)), "object %zu", i);
	}
	for (size_t i = 0; i < 5; i++) {
		setup();
		put_object(40, 0, sizes[i]);
		cr_assert_not(cm_heap_is_sound(heap, sizeof(heap)), "free space %zu", i);
	}
	setup();
	put_u64(8, 8192);
	cr_assert_not(cm_heap_is_sound(heap, sizeof(heap)));
}

Test(heap_check, two_free_spaces_are_not)
{
	put_object(40, 0, 64);
	put_object(104, 0, sizeof(heap) - 104);
	cr_assert_not(cm_heap_is_sound(heap, sizeof(heap)));
}

Test(heap_check, other_bytes_are_no_collection)
{
	cr_assert_not(cm_heap_is_collection("GCOL", 4));
	heap[4] = 2;
	cr_assert_not(cm_heap_is_collection(heap, sizeof(heap)));
}
