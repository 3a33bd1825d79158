/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which GOT slots does an object's code call through? `call *slot(%rip)` is ff 15, `jmp` ff 25,
 * then the distance from the next instruction. A slot whose address is only taken must be left
 * alone: the program would compare, or pass on, the address of a stub.
 */
#include "preload/sites.h"

/* Index of the first slot that is not below `wanted`; n where there is none. */
static uint32_t find(const uint64_t *slots, uint32_t n, uint64_t wanted)
{
	uint32_t low = 0;

	while (n > low) {
		uint32_t middle = low + (n - low) / 2;

		if (slots[middle] < wanted)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

static void scan(const unsigned char *code, const unsigned char *end, const uint64_t *slots,
		 bool *called, uint32_t n_slots)
{
	uint64_t low = slots[0], span = slots[n_slots - 1] - low;

	for (; end - code >= 6; code++) {
		int32_t distance;
		uint64_t target;
		uint32_t i;

		if (code[0] != 0xff || (code[1] != 0x15 && code[1] != 0x25))
			continue;
		__builtin_memcpy(&distance, code + 2, sizeof(distance));
		target = (uint64_t)(code + 6) + (uint64_t)(int64_t)distance;
		if (target - low > span)
			continue;
		i = find(slots, n_slots, target);
		if (i < n_slots && slots[i] == target)
			called[i] = true;
	}
}

void cm_sites_scan(const struct cm_object *object, const uint64_t *slots, bool *called,
		   uint32_t n_slots)
{
	for (int i = 0; n_slots && i < object->n_texts; i++)
		scan((const unsigned char *)object->texts[i].low,
		     (const unsigned char *)object->texts[i].high, slots, called, n_slots);
}
