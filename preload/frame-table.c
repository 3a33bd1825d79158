/* SPDX-License-Identifier: BSD-3-Clause */
/* The few kinds of entries and instructions that compilers and linkers write for x86-64. */
#include "preload/frame-table.h"

#include <errno.h>
#include <stddef.h>

/* Pointer encodings: what linkers write into .eh_frame_hdr and compilers into FDEs. */
#define CM_ENCODING_PCREL_SDATA4 0x1b
#define CM_ENCODING_UDATA4 0x03
#define CM_ENCODING_DATAREL_SDATA4 0x3b

struct reader {
	const uint8_t *at, *end;
	bool failed;
};

static uint64_t read_fixed(struct reader *in, size_t n)
{
	uint64_t value = 0;

	if ((size_t)(in->end - in->at) < n) {
		in->failed = true;
		return 0;
	}
	__builtin_memcpy(&value, in->at, n);
	in->at += n;
	return value;
}

/* A LEB128 number. *ret_bits: how many of the value's bits were given. */
static uint64_t read_leb_bits(struct reader *in, unsigned int *ret_bits)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)read_fixed(in, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->failed);
	*ret_bits = shift;
	return value;
}

static uint64_t read_leb(struct reader *in)
{
	unsigned int n_bits;

	return read_leb_bits(in, &n_bits);
}

static int64_t read_sleb(struct reader *in)
{
	unsigned int n_bits;
	uint64_t value = read_leb_bits(in, &n_bits);

	if (n_bits < 64 && value >> (n_bits - 1))
		value |= ~UINT64_C(0) << n_bits;
	return (int64_t)value;
}

/* Start of the FDE for pc, by the sorted table of .eh_frame_hdr; NULL where there is none. */
static const uint8_t *find_fde(const uint8_t *header, uint64_t pc)
{
	const struct {
		int32_t start, fde;
	} *table = (const void *)(header + 12);
	uint32_t low = 0, high;

	if (header[0] != 1 || header[1] != CM_ENCODING_PCREL_SDATA4 ||
	    header[2] != CM_ENCODING_UDATA4 || header[3] != CM_ENCODING_DATAREL_SDATA4)
		return NULL;
	__builtin_memcpy(&high, header + 8, sizeof(high));
	while (high > low) { /* the last entry that does not start behind pc */
		uint32_t middle = low + (high - low) / 2;

		if ((uint64_t)(header + (ptrdiff_t)table[middle].start) <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? header + (ptrdiff_t)table[low - 1].fde : NULL;
}

/* A length and the entry that it bounds; the id or CIE pointer comes next. */
static struct reader open_entry(const uint8_t *at)
{
	uint32_t length;

	__builtin_memcpy(&length, at, sizeof(length));
	if (length >= 0xfffffff0) /* the 64-bit format, which no linker here writes */
		return (struct reader){.failed = true};
	return (struct reader){.at = at + 4, .end = at + 4 + length};
}

/* The head of a CIE, up to its instructions. */
static void read_cie(struct reader *in, struct cm_frame_rows *rows)
{
	const char *augmentation;
	uint8_t version;
	uint64_t n_data;
	const uint8_t *instructions;

	(void)read_fixed(in, 4);
	version = (uint8_t)read_fixed(in, 1);
	augmentation = (const char *)in->at;
	while (read_fixed(in, 1) && !in->failed)
		;
	rows->code_align = read_leb(in);
	rows->data_align = read_sleb(in);
	(void)(version == 1 ? read_fixed(in, 1) : read_leb(in)); /* return address column */
	if (augmentation[0] != 'z') {
		in->failed = true;
		return;
	}
	n_data = read_leb(in);
	if (n_data > (size_t)(in->end - in->at)) {
		in->failed = true;
		return;
	}
	instructions = in->at + n_data;
	for (const char *c = augmentation + 1; *c && !in->failed; c++) {
		if (*c == 'L')
			(void)read_fixed(in, 1);
		else if (*c == 'P')
			(void)read_fixed(in, (read_fixed(in, 1) & 7) == 3 ? 4 : 8); /* [us]data4 */
		else if (*c == 'R')
			in->failed |= read_fixed(in, 1) != CM_ENCODING_PCREL_SDATA4;
		else /* a signal frame, or something newer */
			in->failed = true;
	}
	in->at = instructions;
}

/*
 * The only expressions that compilers write into functions: breg6 (rbp) + offset, and for the CFA
 * the word there. What they say of other registers is skipped. false: another one.
 */
static bool read_expression(struct reader *in, bool is_read, int64_t *ret_offset)
{
	uint64_t n = read_leb(in);
	struct reader block = {.at = in->at, .end = in->at + n, .failed = in->failed};
	bool ok;

	if (n > (size_t)(in->end - in->at)) {
		in->failed = true;
		return false;
	}
	in->at += n;
	ok = read_fixed(&block, 1) == 0x76;
	*ret_offset = read_sleb(&block);
	if (is_read)
		ok &= read_fixed(&block, 1) == 0x06;
	return ok && !block.failed && block.at == block.end;
}

static void set_rbp(struct cm_frame_rows *rows, uint32_t rule, int64_t offset)
{
	rows->row.rbp = rule;
	rows->row.rbp_offset = offset;
}

/* offset, offset_extended: a register is saved at the CFA + n * data alignment. */
static void save(struct cm_frame_rows *rows, uint64_t reg, int64_t n)
{
	int64_t offset = n * rows->data_align;

	if (reg == CM_DWARF_RBP)
		set_rbp(rows, CM_RBP_AT_CFA, offset);
	else if (reg == CM_DWARF_RIP)
		rows->row.return_address = offset == -8 ? CM_RETURN_AT_CFA : CM_RETURN_UNKNOWN;
}

static void restore(struct cm_frame_rows *rows, uint64_t reg)
{
	if (reg == CM_DWARF_RBP)
		set_rbp(rows, rows->initial.rbp, rows->initial.rbp_offset);
	else if (reg == CM_DWARF_RIP)
		rows->row.return_address = rows->initial.return_address;
}

/* A register's rule is one that is of no use here. */
static void lose(struct cm_frame_rows *rows, uint64_t reg, uint32_t return_address)
{
	if (reg == CM_DWARF_RBP)
		set_rbp(rows, CM_RBP_UNKNOWN, 0);
	else if (reg == CM_DWARF_RIP)
		rows->row.return_address = return_address;
}

/* Opcodes, a bit each: offset_extended to register, expression, and those from 0x11 on below. */
#define CM_ABOUT_REGISTERS (0x1fu << 0x05 | 3u << 0x10 | 1u << 0x14 | 1u << 0x16)

/* The opcodes about other registers than the CFA that stand in few functions. */
static bool set_register(struct reader *in, struct cm_frame_rows *rows, uint8_t opcode)
{
	int64_t offset;
	uint64_t reg;

	if (opcode > 0x16 || !(CM_ABOUT_REGISTERS >> opcode & 1))
		return false;
	reg = read_leb(in);
	switch (opcode) {
	case 0x05: /* offset_extended */
		save(rows, reg, (int64_t)read_leb(in));
		break;
	case 0x11: /* offset_extended_sf */
		save(rows, reg, read_sleb(in));
		break;
	case 0x06: /* restore_extended */
		restore(rows, reg);
		break;
	case 0x07: /* undefined */
		lose(rows, reg, CM_RETURN_NONE);
		break;
	case 0x08: /* same_value */
		if (reg == CM_DWARF_RBP)
			set_rbp(rows, CM_RBP_SAME, 0);
		break;
	case 0x10: /* expression */
		lose(rows, reg, CM_RETURN_UNKNOWN);
		if (read_expression(in, false, &offset) && reg == CM_DWARF_RBP)
			set_rbp(rows, CM_RBP_AT_RBP, offset);
		break;
	case 0x16: /* val_expression */
		lose(rows, reg, CM_RETURN_UNKNOWN);
		(void)read_expression(in, false, &offset); /* only to get past it */
		break;
	default: /* register, val_offset */
		lose(rows, reg, CM_RETURN_UNKNOWN);
		(void)read_leb(in);
	}
	return true;
}

/* The opcodes that set the CFA, and the state as a whole. */
static void define_cfa(struct reader *in, struct cm_frame_rows *rows, uint8_t opcode)
{
	int64_t offset;

	switch (opcode) {
	case 0x0a: /* remember_state */
		if (rows->n_remembered == CM_FRAME_MAX_REMEMBERED)
			in->failed = true;
		else
			rows->remembered[rows->n_remembered++] = rows->row;
		break;
	case 0x0b: /* restore_state */
		if (!rows->n_remembered)
			in->failed = true;
		else
			rows->row = rows->remembered[--rows->n_remembered];
		break;
	case 0x0c: /* def_cfa */
		rows->row.cfa.reg = read_leb(in);
		rows->row.cfa.offset = read_leb(in);
		break;
	case 0x0d: /* def_cfa_register */
		rows->row.cfa.reg = read_leb(in);
		break;
	case 0x0e: /* def_cfa_offset */
		rows->row.cfa.offset = read_leb(in);
		break;
	case 0x0f:				      /* def_cfa_expression */
		rows->row.cfa.reg = CM_FRAME_UNKNOWN; /* until it is defined again */
		if (read_expression(in, true, &offset))
			rows->row.cfa = (struct cm_frame_cfa){CM_FRAME_AT_RBP, (uint64_t)offset};
		break;
	default: /* what is not known */
		in->failed |= !set_register(in, rows, opcode);
	}
}

/* Opcodes with the operand in their lower bits, and those that move on. */
static void step(struct reader *in, struct cm_frame_rows *rows)
{
	uint8_t opcode = (uint8_t)read_fixed(in, 1);

	switch (opcode >> 6 ? opcode & 0xc0 : opcode) {
	case 0x40: /* advance_loc */
		rows->location += (opcode & 0x3f) * rows->code_align;
		return;
	case 0x02: /* advance_loc1, 2, 4 */
		rows->location += read_fixed(in, 1) * rows->code_align;
		return;
	case 0x03:
		rows->location += read_fixed(in, 2) * rows->code_align;
		return;
	case 0x04:
		rows->location += read_fixed(in, 4) * rows->code_align;
		return;
	case 0x80: /* offset */
		save(rows, opcode & 0x3f, (int64_t)read_leb(in));
		return;
	case 0xc0: /* restore */
		restore(rows, opcode & 0x3f);
		return;
	case 0x00: /* nop */
		return;
	case 0x2e: /* GNU_args_size */
		(void)read_leb(in);
		return;
	default:
		define_cfa(in, rows, opcode);
	}
}

/* Run instructions until the location has passed pc; the row in force there stays in rows->row.cfa.
 */
static void run(struct reader *in, struct cm_frame_rows *rows, uint64_t pc)
{
	while (in->at < in->end && !in->failed && rows->location <= pc) {
		const uint8_t *before = in->at;
		uint64_t location = rows->location;

		step(in, rows);
		if (rows->location <= pc)
			continue;
		/* An advance changes nothing but the location: it is done again for a later pc. */
		in->at = before;
		rows->location = location;
		return;
	}
}

int cm_frame_open(struct cm_frame_rows *rows, const uint8_t *header, uint64_t pc)
{
	const uint8_t *at = find_fde(header, pc), *field;
	struct reader fde, cie;
	uint64_t n_data;
	int32_t start;

	if (!at)
		return -ENOENT;
	*rows = (struct cm_frame_rows){0};
	fde = open_entry(at);
	field = fde.at;
	cie = open_entry(field - read_fixed(&fde, 4));
	read_cie(&cie, rows);
	field = fde.at;
	start = (int32_t)read_fixed(&fde, 4);
	rows->start = (uint64_t)(field + (ptrdiff_t)start);
	rows->end = rows->start + read_fixed(&fde, 4);
	n_data = read_leb(&fde);
	if (cie.failed || fde.failed || n_data > (size_t)(fde.end - fde.at))
		return -ENOTSUP;
	if (pc < rows->start || pc >= rows->end)
		return -ENOENT;
	run(&cie, rows, UINT64_MAX);
	rows->initial = rows->row;
	rows->location = rows->start;
	rows->at = fde.at + n_data;
	rows->last = fde.end;
	return cie.failed ? -ENOTSUP : 0;
}

static bool find(struct cm_frame_rows *rows, uint64_t pc)
{
	struct reader in = {.at = rows->at, .end = rows->last, .failed = rows->failed};

	run(&in, rows, pc);
	rows->at = in.at;
	rows->failed = in.failed;
	return !in.failed;
}

bool cm_frame_find(struct cm_frame_rows *rows, uint64_t pc, struct cm_frame_cfa *ret_cfa)
{
	bool ok = find(rows, pc);

	*ret_cfa = rows->row.cfa;
	return ok;
}

bool cm_frame_find_row(struct cm_frame_rows *rows, uint64_t pc, struct cm_frame_row *ret_row)
{
	bool ok = find(rows, pc);

	*ret_row = rows->row;
	return ok;
}
