/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding by tables of what follows the opcode. */
#include "preload/instruction.h"

/* What follows an opcode; immediates are of the sizes that the letters of the SDM mean. */
enum {
	NONE = 0,
	M = 1,	     /* ModRM */
	IB = 2,	     /* 1 byte */
	IZ = 4,	     /* 4 bytes, 2 with prefix 66 */
	IW = 8,	     /* 2 bytes */
	J = 16,	     /* 4 bytes: a distance */
	BAD = 32,    /* not in 64-bit mode, or a prefix where none may be */
	SPECIAL = 64 /* decided in code */
};

/* clang-format off */
static const uint8_t one_byte[256] = {
	/* add, or, adc, sbb, and, sub, xor, cmp */
	[0x00 ... 0x03] = M, [0x04] = IB, [0x05] = IZ, [0x06 ... 0x07] = BAD,
	[0x08 ... 0x0b] = M, [0x0c] = IB, [0x0d] = IZ, [0x0e ... 0x0f] = BAD,
	[0x10 ... 0x13] = M, [0x14] = IB, [0x15] = IZ, [0x16 ... 0x17] = BAD,
	[0x18 ... 0x1b] = M, [0x1c] = IB, [0x1d] = IZ, [0x1e ... 0x1f] = BAD,
	[0x20 ... 0x23] = M, [0x24] = IB, [0x25] = IZ, [0x26 ... 0x27] = BAD,
	[0x28 ... 0x2b] = M, [0x2c] = IB, [0x2d] = IZ, [0x2e ... 0x2f] = BAD,
	[0x30 ... 0x33] = M, [0x34] = IB, [0x35] = IZ, [0x36 ... 0x37] = BAD,
	[0x38 ... 0x3b] = M, [0x3c] = IB, [0x3d] = IZ, [0x3e ... 0x4f] = BAD,
	[0x60 ... 0x62] = BAD, [0x63] = M, [0x64 ... 0x67] = BAD,
	[0x68] = IZ, [0x69] = M | IZ, [0x6a] = IB, [0x6b] = M | IB,
	[0x70 ... 0x7f] = IB,
	[0x80] = M | IB, [0x81] = M | IZ, [0x82] = BAD, [0x83] = M | IB, [0x84 ... 0x8f] = M,
	[0x9a] = BAD,
	[0xa0 ... 0xa3] = BAD, [0xa8] = IB, [0xa9] = IZ,
	[0xb0 ... 0xb7] = IB, [0xb8 ... 0xbf] = SPECIAL,
	[0xc0 ... 0xc1] = M | IB, [0xc2] = IW, [0xc4 ... 0xc5] = BAD, [0xc6] = M | IB,
	[0xc7] = M | IZ, [0xc8] = IW | IB, [0xca] = IW, [0xcd] = IB, [0xce] = BAD,
	[0xd0 ... 0xd3] = M, [0xd4 ... 0xd6] = BAD, [0xd8 ... 0xdf] = M,
	[0xe0 ... 0xe7] = IB, [0xe8 ... 0xe9] = J, [0xea] = BAD, [0xeb] = IB,
	[0xf0] = BAD, [0xf2 ... 0xf3] = BAD, [0xf6 ... 0xf7] = SPECIAL, [0xfe ... 0xff] = M,
};

static const uint8_t two_byte[256] = {
	[0x00 ... 0x03] = M, [0x04] = BAD, [0x0a] = BAD, [0x0c] = BAD, [0x0d] = M,
	[0x0f] = M | IB, [0x10 ... 0x23] = M, [0x24 ... 0x27] = BAD, [0x28 ... 0x2f] = M,
	[0x36] = BAD, [0x38 ... 0x3f] = BAD, [0x40 ... 0x6f] = M, [0x70 ... 0x73] = M | IB,
	[0x74 ... 0x76] = M, [0x78 ... 0x7f] = M, [0x80 ... 0x8f] = J, [0x90 ... 0x9f] = M,
	[0xa3] = M, [0xa4] = M | IB, [0xa5] = M, [0xa6 ... 0xa7] = BAD, [0xab] = M,
	[0xac] = M | IB, [0xad ... 0xb9] = M, [0xba] = M | IB, [0xbb ... 0xc1] = M,
	[0xc2] = M | IB, [0xc3] = M, [0xc4 ... 0xc6] = M | IB, [0xc7] = M, [0xd0 ... 0xff] = M,
};
/* clang-format on */

struct decoder {
	struct cm_instruction *out;
	const uint8_t *at, *end;
	uint8_t extra_reg, extra_index, extra_base; /* 8 or 0 */
	bool has_operand_prefix;
	bool failed;
};

static uint8_t next(struct decoder *in)
{
	if (in->at >= in->end) {
		in->failed = true;
		return 0;
	}
	return *in->at++;
}

static int64_t next_signed(struct decoder *in, unsigned int n_bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < n_bytes; i++)
		value |= (uint64_t)next(in) << 8 * i;
	return n_bytes ? (int64_t)(value << (64 - 8 * n_bytes)) >> (64 - 8 * n_bytes) : 0;
}

static uint8_t what_follows(const struct cm_instruction *out)
{
	switch (out->map) {
	case CM_MAP_ONE_BYTE:
		return one_byte[out->opcode];
	case CM_MAP_0F:
		if (out->form != CM_FORM_LEGACY && (two_byte[out->opcode] & (BAD | J)))
			return M; /* mask registers */
		if (out->form != CM_FORM_LEGACY && out->opcode != 0x77)
			return two_byte[out->opcode] | M;
		return two_byte[out->opcode];
	case CM_MAP_0F3A:
		return M | IB;
	default:
		return M;
	}
}

/* Legacy prefixes and REX. Returns the first byte behind them. */
static uint8_t read_prefixes(struct decoder *in)
{
	uint8_t byte;

	for (;;) {
		byte = next(in);
		if (byte == 0x66)
			in->has_operand_prefix = true;
		else if (byte == 0x67)
			in->out->has_address_prefix = true;
		else if (byte == 0x3e)
			in->out->is_notrack = true;
		else if (byte != 0x2e && byte != 0x36 && byte != 0x26 && byte != 0x64 &&
			 byte != 0x65 && byte != 0xf0 && byte != 0xf2 && byte != 0xf3)
			break;
	}
	if ((byte & 0xf0) != 0x40)
		return byte;
	in->out->is_wide = byte & 8;
	in->extra_reg = (uint8_t)(byte << 1 & 8);
	in->extra_index = (uint8_t)(byte << 2 & 8);
	in->extra_base = (uint8_t)(byte << 3 & 8);
	return next(in);
}

/* Bits R, X and B stand inverted in the upper bits of a VEX or EVEX payload. */
static void take_inverted(struct decoder *in, uint8_t payload)
{
	in->extra_reg = payload & 0x80 ? 0 : 8;
	in->extra_index = payload & 0x40 ? 0 : 8;
	in->extra_base = payload & 0x20 ? 0 : 8;
}

static void read_vector_prefix(struct decoder *in, uint8_t first)
{
	uint8_t payload = next(in);

	in->out->form = first == 0x62 ? CM_FORM_EVEX : CM_FORM_VEX;
	in->out->map = CM_MAP_0F;
	if (first == 0xc5) {
		in->extra_reg = payload & 0x80 ? 0 : 8;
	} else {
		take_inverted(in, payload);
		in->out->map = payload & (first == 0x62 ? 7 : 31);
		in->out->is_wide = next(in) & 0x80;
	}
	if (first == 0x62)
		(void)next(in); /* vector length, masking */
	in->failed |= in->out->map == 0 || in->out->map == 4 || in->out->map > 6 ||
		      (first != 0x62 && in->out->map > 3);
	in->out->opcode = next(in);
}

static void read_opcode(struct decoder *in)
{
	uint8_t byte = read_prefixes(in);

	if (byte == 0x62 || byte == 0xc4 || byte == 0xc5) {
		read_vector_prefix(in, byte);
		return;
	}
	if (byte == 0x0f) {
		byte = next(in);
		in->out->map = byte == 0x38 ? CM_MAP_0F38 : byte == 0x3a ? CM_MAP_0F3A : CM_MAP_0F;
		if (in->out->map != CM_MAP_0F)
			byte = next(in);
	}
	in->out->opcode = byte;
}

static void read_memory(struct decoder *in, unsigned int mod, unsigned int rm)
{
	struct cm_instruction *out = in->out;
	unsigned int n_disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	out->has_memory = true;
	out->base = (uint8_t)(rm | in->extra_base);
	if (rm == 4) {
		uint8_t sib = next(in);
		uint8_t index = (uint8_t)((sib >> 3 & 7) | in->extra_index);

		out->base = (uint8_t)((sib & 7) | in->extra_base);
		out->index = index == CM_REG_RSP ? CM_REG_NONE : index;
		if ((sib & 7) == 5 && mod == 0) {
			out->base = CM_REG_NONE;
			n_disp = 4;
		}
	} else if (rm == 5 && mod == 0) {
		out->base = CM_REG_RIP;
		n_disp = 4;
	}
	out->disp = next_signed(in, n_disp);
	out->is_scaled = out->form == CM_FORM_EVEX && n_disp == 1;
}

static void read_modrm(struct decoder *in)
{
	uint8_t byte = next(in);

	in->out->has_modrm = true;
	in->out->reg = (uint8_t)((byte >> 3 & 7) | in->extra_reg);
	if (byte >> 6 == 3)
		in->out->rm = (uint8_t)((byte & 7) | in->extra_base);
	else
		read_memory(in, byte >> 6, byte & 7);
}

static unsigned int immediate_bytes(const struct decoder *in, unsigned int what)
{
	unsigned int z = in->has_operand_prefix && !in->out->is_wide ? 2 : 4;

	return (what & IB ? 1 : 0) + (what & IW ? 2 : 0) + (what & IZ ? z : 0) + (what & J ? 4 : 0);
}

bool cm_instruction_decode(struct cm_instruction *instruction, const uint8_t *code, size_t n_bytes)
{
	struct decoder in = {
		.out = instruction, .at = code, .end = code + (n_bytes < 15 ? n_bytes : 15)};
	uint8_t what;

	*instruction = (struct cm_instruction){.base = CM_REG_NONE, .index = CM_REG_NONE};
	read_opcode(&in);
	what = what_follows(instruction);
	if (what == SPECIAL && instruction->opcode >= 0xf6) {
		read_modrm(&in);
		if ((instruction->reg & 7) < 2) /* test; the others have no immediate */
			what |= instruction->opcode == 0xf6 ? IB : IZ;
	} else if (what & M) {
		read_modrm(&in);
	}
	if (instruction->map == CM_MAP_ONE_BYTE && instruction->opcode == 0x8f)
		in.failed |= (instruction->reg & 7) != 0; /* AMD's XOP, not pop */
	if (!instruction->has_modrm)
		instruction->rm = (uint8_t)((instruction->opcode & 7) | in.extra_base);
	instruction->n_immediate = (uint8_t)immediate_bytes(&in, what);
	if (what == SPECIAL && instruction->opcode < 0xf6) /* mov of a constant to a register */
		instruction->n_immediate = instruction->is_wide ? 8 : in.has_operand_prefix ? 2 : 4;
	instruction->immediate = next_signed(&in, instruction->n_immediate);
	instruction->length = (uint8_t)(in.at - code);
	return !in.failed && !(what & BAD);
}
