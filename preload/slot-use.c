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
#include "preload/slot-use.h"

#include <emmintrin.h>
#include <string.h>

#include "preload/instruction.h"

#define CM_MAX_FOLLOWED 400 /* instructions behind a load */
#define CM_MAX_JUMPS 8

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
	const uint8_t *code, *end;
	uint64_t moved;
	const uint64_t *slots;
	uint8_t *uses;
	uint32_t n_slots;
};

enum next { GO_ON, END, ADDRESS };

static bool is_legacy(const struct cm_instruction *code, unsigned int map)
{
	return code->form == CM_FORM_LEGACY && code->map == map;
}

/* rbx, rbp, r12 to r15 keep their values across calls. */
static bool is_kept(unsigned int reg)
{
	return reg == 3 || reg == CM_REG_RBP || reg >= 12;
}

static bool is_argument(unsigned int reg)
{
	return reg == 1 || reg == 2 || (reg >= 6 && reg <= 9);
}

/* Does the instruction give the register a new value, whatever it was? */
static bool overwrites(const struct cm_instruction *code, unsigned int reg)
{
	if (is_legacy(code, CM_MAP_0F) && (code->opcode & 0xf6) == 0xb6) /* movzx, movsx */
		return code->reg == reg && code->base != reg && code->index != reg &&
		       (code->has_memory || code->rm != reg);
	if (!is_legacy(code, CM_MAP_ONE_BYTE))
		return false;
	switch (code->opcode) {
	case 0x31: /* xor, as zero */
	case 0x33:
		return !code->has_memory && code->reg == reg && code->rm == reg;
	case 0x8b:
	case 0x8d:
	case 0x63:
		return code->reg == reg && code->base != reg && code->index != reg &&
		       (code->has_memory || code->rm != reg);
	case 0x89:
		return !code->has_memory && code->rm == reg && code->reg != reg;
	default:
		return ((code->opcode & 0xf8) == 0x58 || (code->opcode & 0xf8) == 0xb8) &&
		       code->rm == reg; /* pop, mov of a constant */
	}
}

static bool mentions(const struct cm_instruction *code, unsigned int reg)
{
	if (is_legacy(code, CM_MAP_ONE_BYTE) &&
	    ((code->opcode & 0xf8) == 0x50 || (code->opcode & 0xf8) == 0x90))
		return code->rm == reg && (code->opcode != 0x90 || reg != CM_REG_RAX);
	return code->has_modrm && (code->reg == reg || code->base == reg || code->index == reg ||
				   (!code->has_memory && code->rm == reg));
}

/* What becomes of a function's address in a register at one instruction. */
static enum next judge(const struct cm_instruction *code, unsigned int reg, uint8_t *use)
{
	bool is_one_byte = is_legacy(code, CM_MAP_ONE_BYTE);
	bool is_indirect = is_one_byte && code->opcode == 0xff;
	unsigned int kind = code->reg & 7;

	if (is_indirect && !code->has_memory && code->rm == reg && (kind == 2 || kind == 4)) {
		*use |= CM_SLOT_CALLED;
		return kind == 2 && is_kept(reg) ? GO_ON : END;
	}
	if (overwrites(code, reg))
		return END;
	if (is_indirect && (kind == 2 || kind == 4) ? code->base == reg : mentions(code, reg))
		return ADDRESS;
	if ((is_one_byte && code->opcode == 0xe8) || (is_indirect && kind == 2))
		return is_argument(reg) ? ADDRESS : is_kept(reg) ? GO_ON : END;
	if (is_one_byte && (code->opcode & 0xfe) == 0xc2)
		return reg == CM_REG_RAX ? ADDRESS : END;
	return GO_ON;
}

/*
 * Code that is compiled with -fno-plt loads a slot to call it several times. As long as nothing
 * else is seen to be done with the register, the load is a call.
 */
static uint8_t follow(const struct search *search, const uint8_t *at, unsigned int reg)
{
	uint8_t use = 0;
	int n_jumps = 0;

	for (int i = 0; i < CM_MAX_FOLLOWED && at >= search->code && at < search->end; i++) {
		struct cm_instruction code;
		enum next next;

		if (!cm_instruction_decode(&code, at, (size_t)(search->end - at)))
			return CM_SLOT_LOADED;
		next = judge(&code, reg, &use);
		if (next == ADDRESS)
			return CM_SLOT_LOADED;
		if (next == END)
			break;
		at += code.length;
		if (!is_legacy(&code, CM_MAP_ONE_BYTE) ||
		    (code.opcode != 0xe9 && code.opcode != 0xeb))
			continue;
		if (++n_jumps > CM_MAX_JUMPS)
			break;
		at += code.immediate;
	}
	return use ? use : CM_SLOT_LOADED;
}

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
	if (i >= search->n_slots || search->slots[i] != target)
		return;
	if (opcode == 0x8b) /* REX.R, two bytes before, says which half of the registers */
		use = follow(search, modrm + 5,
			     (*modrm >> 3 & 7) +
				     (modrm - search->code >= 2 && modrm[-2] == 0x4c ? 8u : 0u));
	search->uses[i] |= use;
}

/* Sixteen candidates for a ModRM byte at a time: code can be tens of MB. */
void cm_slot_use_scan(const uint8_t *code, size_t n_bytes, uint64_t address, const uint64_t *slots,
		      uint8_t *uses, uint32_t n_slots)
{
	const struct search search = {code,  code + n_bytes, address - (uint64_t)code,
				      slots, uses,	     n_slots};
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
	return uses & (CM_SLOT_CALLED | CM_SLOT_JUMPED) &&
	       !(uses & (CM_SLOT_LOADED | CM_SLOT_COMPARED));
}
