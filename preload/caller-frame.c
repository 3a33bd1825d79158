/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading .eh_frame: only as far as the canonical frame address at one instruction. */
#include "preload/caller-frame.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/object.h"

#define CM_DWARF_RBP 6
#define CM_DWARF_RSP 7
#define CM_MAX_REMEMBERED 8

/* Pointer encodings: what linkers write into .eh_frame_hdr and compilers into FDEs. */
#define CM_ENCODING_PCREL_SDATA4 0x1b
#define CM_ENCODING_UDATA4 0x03
#define CM_ENCODING_DATAREL_SDATA4 0x3b

_Atomic uint64_t cm_caller_frames[CM_CALLER_SLOTS];

struct reader {
	const uint8_t *at, *end;
	bool failed;
};

/* The CFA as register + offset. */
struct cfa {
	uint64_t reg;
	uint64_t offset;
};

struct machine {
	struct cfa cfa;
	struct cfa remembered[CM_MAX_REMEMBERED];
	int n_remembered;
	uint64_t location;
	uint64_t code_align;
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

/* Signed ones are read the same way: only their length matters here. */
static uint64_t read_leb(struct reader *in)
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
	return value;
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
static void read_cie(struct reader *in, struct machine *machine)
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
	machine->code_align = read_leb(in);
	(void)read_leb(in);					 /* data alignment */
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

/* The opcodes that set the CFA. */
static void define_cfa(struct reader *in, struct machine *machine, uint8_t opcode)
{
	switch (opcode) {
	case 0x0a: /* remember_state */
		if (machine->n_remembered == CM_MAX_REMEMBERED)
			in->failed = true;
		else
			machine->remembered[machine->n_remembered++] = machine->cfa;
		break;
	case 0x0b: /* restore_state */
		if (!machine->n_remembered)
			in->failed = true;
		else
			machine->cfa = machine->remembered[--machine->n_remembered];
		break;
	case 0x0c: /* def_cfa */
		machine->cfa.reg = read_leb(in);
		machine->cfa.offset = read_leb(in);
		break;
	case 0x0d: /* def_cfa_register */
		machine->cfa.reg = read_leb(in);
		break;
	case 0x0e: /* def_cfa_offset */
		machine->cfa.offset = read_leb(in);
		break;
	default: /* expressions, and what is not known */
		in->failed = true;
	}
}

/* Opcodes with the operand in their lower bits, or about other registers than the CFA. */
static void step(struct reader *in, struct machine *machine)
{
	uint8_t opcode = (uint8_t)read_fixed(in, 1);

	switch (opcode >> 6 ? opcode & 0xc0 : opcode) {
	case 0x40: /* advance_loc */
		machine->location += (opcode & 0x3f) * machine->code_align;
		return;
	case 0x02: /* advance_loc1, 2, 4 */
		machine->location += read_fixed(in, 1) * machine->code_align;
		return;
	case 0x03:
		machine->location += read_fixed(in, 2) * machine->code_align;
		return;
	case 0x04:
		machine->location += read_fixed(in, 4) * machine->code_align;
		return;
	case 0xc0: /* restore */
	case 0x00: /* nop */
		return;
	case 0x80: /* offset */
	case 0x06: /* restore_extended, undefined, same_value, GNU_args_size */
	case 0x07:
	case 0x08:
	case 0x2e:
		(void)read_leb(in);
		return;
	case 0x05: /* offset_extended, register, offset_extended_sf, val_offset */
	case 0x09:
	case 0x11:
	case 0x14:
		(void)read_leb(in);
		(void)read_leb(in);
		return;
	default:
		define_cfa(in, machine, opcode);
	}
}

/* Run instructions until the location has passed pc; the row in force there stays in cfa. */
static void run(struct reader *in, struct machine *machine, uint64_t pc)
{
	struct cfa in_force = machine->cfa;

	while (in->at < in->end && !in->failed) {
		step(in, machine);
		if (machine->location > pc) {
			machine->cfa = in_force;
			return;
		}
		in_force = machine->cfa;
	}
}

static uint32_t frame_words(const uint8_t *header, uint64_t pc)
{
	const uint8_t *at = find_fde(header, pc), *field;
	struct machine machine = {0};
	struct reader fde, cie;
	uint64_t n_bytes, n_data;
	int32_t start;

	if (!at)
		return CM_CALLER_UNKNOWN;
	fde = open_entry(at);
	field = fde.at;
	cie = open_entry(field - read_fixed(&fde, 4));
	read_cie(&cie, &machine);
	field = fde.at;
	start = (int32_t)read_fixed(&fde, 4);
	n_bytes = read_fixed(&fde, 4);
	machine.location = (uint64_t)(field + (ptrdiff_t)start);
	n_data = read_leb(&fde);
	if (cie.failed || fde.failed || pc - machine.location >= n_bytes ||
	    n_data > (size_t)(fde.end - fde.at))
		return CM_CALLER_UNKNOWN;
	fde.at += n_data;
	run(&cie, &machine, UINT64_MAX);
	run(&fde, &machine, pc);
	if (cie.failed || fde.failed)
		return CM_CALLER_UNKNOWN;
	if (machine.cfa.reg == CM_DWARF_RBP && machine.cfa.offset == 16)
		return CM_CALLER_BY_RBP;
	if (machine.cfa.reg != CM_DWARF_RSP || machine.cfa.offset / 8 >= CM_CALLER_BY_RBP)
		return CM_CALLER_UNKNOWN;
	/*
	 * Stack arguments begin where rsp points after the return. The CFA is where the frame ends;
	 * the word below it, the caller's own return address, only makes the number even.
	 */
	return (uint32_t)(machine.cfa.offset / 16 * 2);
}

uint32_t cm_caller_find(uint64_t return_address)
{
	const struct cm_object *object = cm_object_of((void *)return_address);
	uint32_t n_words = CM_CALLER_UNKNOWN;
	uint64_t free = 0;

	if (object && object->unwind_table)
		n_words = frame_words(object->unwind_table, return_address - 1);
	/* Another site's entry stays; only addresses of 48 bits fit. */
	if (!(return_address >> 48))
		(void)atomic_compare_exchange_strong_explicit(
			&cm_caller_frames[return_address % CM_CALLER_SLOTS], &free,
			return_address << 16 | n_words, memory_order_relaxed, memory_order_relaxed);
	return n_words;
}

void cm_caller_reset(void)
{
	for (uint32_t i = 0; i < CM_CALLER_SLOTS; i++)
		atomic_store_explicit(&cm_caller_frames[i], 0, memory_order_relaxed);
}
