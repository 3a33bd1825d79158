/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How does an object's code use its GOT slots? Instructions with a slot as operand have a ModRM
 * byte xx000101b/5 and the distance from the instruction's end. `call` is ff 15, `jmp` ff 25; a
 * load or comparison takes the function's address, which must stay what other objects see.
 *
 * Every byte is looked at, not every instruction: bytes that only look like a use of a slot are
 * rarer than one in 10 million, and cost a site at worst.
 *
 * The one file here that uses vector registers: it runs in the constructor and in dlopen, never in
 * a hook.
 */
#include <emmintrin.h>
#include <string.h>

#include "preload/slot-use.h"

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

/* What is looked for, and where the code runs less where it is read. */
struct search {
	uint64_t moved;
	const uint64_t *slots;
	uint8_t *uses;
	uint32_t n_slots;
};

/* Is `modrm` the ModRM byte of an instruction that uses one of the slots? */
static void look(const struct search *search, const uint8_t *modrm)
{
	uint8_t opcode = modrm[-1], use = use_of(opcode, *modrm);
	unsigned int n_immediate = opcode == 0x81 ? 4 : opcode == 0x83 || opcode == 0x22 ? 1 : 0;
	int32_t distance;
	uint64_t target;
	uint32_t i;

	if (!use)
		return;
	memcpy(&distance, modrm + 1, sizeof(distance));
	target = (uint64_t)(modrm + 5) + search->moved + (uint64_t)(int64_t)distance + n_immediate;
	i = find(search->slots, search->n_slots, target);
	if (i < search->n_slots && search->slots[i] == target)
		search->uses[i] |= use;
}

/* Sixteen candidates for a ModRM byte at a time: code can be tens of MB. */
void cm_slot_use_scan(const uint8_t *code, size_t n_bytes, uint64_t address, const uint64_t *slots,
		      uint8_t *uses, uint32_t n_slots)
{
	const struct search search = {address - (uint64_t)code, slots, uses, n_slots};
	const __m128i mask = _mm_set1_epi8((char)0xc7), wanted = _mm_set1_epi8(0x05);
	const uint8_t *at = code + 1, *end = code + n_bytes;

	for (; end - at >= 16 + 4; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i same = _mm_cmpeq_epi8(_mm_and_si128(bytes, mask), wanted);
		unsigned int hits = (unsigned int)_mm_movemask_epi8(same);

		for (; hits; hits &= hits - 1)
			look(&search, at + __builtin_ctz(hits));
	}
	for (; end - at >= 5; at++)
		if ((*at & 0xc7) == 0x05)
			look(&search, at);
}

bool cm_slot_use_may_change(unsigned int uses)
{
	if (uses & CM_SLOT_COMPARED)
		return false;
	/* Code that calls through slots (-fno-plt) also loads them to call them in a loop. */
	return uses & CM_SLOT_CALLED || (uses & CM_SLOT_JUMPED && !(uses & CM_SLOT_LOADED));
}
