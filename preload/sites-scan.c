/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does an object's code use its GOT slots? Instructions with a slot as operand have a ModRM
 * byte xx000101b/5 and the distance from the instruction's end. `call` is ff 15, `jmp` ff 25; a
 * load or comparison takes the function's address, which must stay what other objects see.
 *
 * Every byte is looked at, not every instruction: bytes that only look like a use of a slot are
 * rarer than one in 10 million, and cost a site at worst.
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

/* What the opcode before a ModRM byte with a rip-relative operand does; 0: nothing of these. */
static uint8_t use_of(uint8_t opcode, uint8_t modrm)
{
	switch (opcode) {
	case 0xff:
		return modrm == 0x15   ? CM_SLOT_CALLED
		       : modrm == 0x25 ? CM_SLOT_JUMPED
		       : modrm == 0x35 ? CM_SLOT_LOADED
				       : 0;
	case 0x8b: /* mov */
	case 0x7e: /* movq to an xmm register */
	case 0x16: /* movhps */
	case 0x22: /* pinsrq has an immediate; see below */
	case 0x44:
	case 0x45: /* cmove, cmovne */
		return CM_SLOT_LOADED;
	case 0x3b:
	case 0x39:
	case 0x85: /* cmp, test */
	case 0x83:
	case 0x81: /* cmp with an immediate */
		return CM_SLOT_COMPARED;
	default:
		return 0;
	}
}

static void scan(const uint8_t *code, const uint8_t *end, const uint64_t *slots, uint8_t *uses,
		 uint32_t n_slots)
{
	/* Immediates of up to 4 bytes may follow the distance. */
	uint64_t low = slots[0] - 4, span = slots[n_slots - 1] - low;

	for (; end - code >= 6; code++) {
		int32_t distance;
		uint64_t after;
		unsigned int n_immediate;
		uint8_t use;
		uint32_t i;

		__builtin_memcpy(&distance, code + 2, sizeof(distance));
		after = (uint64_t)(code + 6) + (uint64_t)(int64_t)distance;
		if (after - low > span || (code[1] & 0xc7) != 0x05)
			continue;
		use = use_of(code[0], code[1]);
		n_immediate = code[0] == 0x81 ? 4 : code[0] == 0x83 || code[0] == 0x22 ? 1 : 0;
		i = find(slots, n_slots, after + n_immediate);
		if (i < n_slots && slots[i] == after + n_immediate)
			uses[i] |= use;
	}
}

void cm_sites_scan(const struct cm_object *object, const uint64_t *slots, uint8_t *uses,
		   uint32_t n_slots)
{
	for (int i = 0; n_slots && i < object->n_texts; i++)
		scan((const uint8_t *)object->texts[i].low, (const uint8_t *)object->texts[i].high,
		     slots, uses, n_slots);
}

bool cm_sites_may_change(unsigned int uses)
{
	if (uses & CM_SLOT_COMPARED)
		return false;
	/* Code that calls through slots (-fno-plt) also loads them to call them in a loop. */
	return uses & CM_SLOT_CALLED || (uses & CM_SLOT_JUMPED && !(uses & CM_SLOT_LOADED));
}
