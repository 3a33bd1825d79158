/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Move the instructions at a function's entry.
 *
 * Each is copied as it is but for distances: operands relative to rip get a fixup, short jumps
 * become long ones. A call must return into the function, not into the copy, which no unwinder
 * knows: it becomes a push of the return address and a jump, and so can only come last.
 */
#include "collector/code-entry.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Instructions at `place` on their way to site->moved. */
struct mover {
	struct cm_code_entry *entry;
	struct cm_site_function *site;
	const uint8_t *code; /* of the instruction at hand */
	size_t at;	     /* its position behind `place` */
	ZydisDecodedInstruction instruction;
	bool has_moved; /* more than leading nops */
	bool has_ended; /* control does not go on behind the last one */
	bool is_full;	/* it does not fit */
};

static int refuse(struct cm_code_entry *entry, int rc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(struct cm_code_entry *entry, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(entry->reason, sizeof(entry->reason), format, args);
	va_end(args);
	return rc;
}

static void put(struct mover *mover, const void *bytes, size_t n)
{
	struct cm_site_function *site = mover->site;

	if (n > CM_SITE_MAX_MOVED - site->n_moved) {
		mover->is_full = true;
		return;
	}
	memcpy(site->moved + site->n_moved, bytes, n);
	site->n_moved = (uint8_t)(site->n_moved + n);
}

/* The last `n` bytes that were put begin with the place of a number. */
static void put_fixup(struct mover *mover, enum cm_site_fixup_kind kind, size_t n, uint64_t target)
{
	struct cm_site_function *site = mover->site;

	if (mover->is_full || site->n_fixups == CM_SITE_MAX_FIXUPS) {
		mover->is_full = true;
		return;
	}
	site->fixups[site->n_fixups++] = (struct cm_site_fixup){
		.at = (uint8_t)(site->n_moved - n),
		.kind = (uint8_t)kind,
		.tail = (uint8_t)n,
		.target = target,
	};
}

/* An opcode and a distance of four bytes to the target. */
static void put_branch(struct mover *mover, const void *opcode, size_t n, uint64_t target)
{
	put(mover, opcode, n);
	put(mover, "\0\0\0\0", 4);
	put_fixup(mover, CM_SITE_FIXUP_REL32, 4, target);
}

static uint64_t address_behind(const struct mover *mover)
{
	return mover->site->place + mover->at + mover->instruction.length;
}

static bool is_rip_relative(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) &&
	       instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5;
}

static int put_copy(struct mover *mover, const uint8_t *bytes)
{
	const ZydisDecodedInstruction *instruction = &mover->instruction;

	put(mover, bytes, instruction->length);
	if (!is_rip_relative(instruction))
		return 0;
	if (instruction->address_width != 64)
		return refuse(mover->entry, -EINVAL,
			      "instruction: an address relative to eip, in 32 bits");
	put_fixup(mover, CM_SITE_FIXUP_REL32, instruction->length - instruction->raw.disp.offset,
		  address_behind(mover) + (uint64_t)instruction->raw.disp.value);
	return 0;
}

/* push *distance(%rip), and behind the jump of n_jump bytes that follows, what it pushes. */
static void put_return_address(struct mover *mover, uint8_t n_jump)
{
	const uint8_t push[] = {0xff, 0x35, n_jump, 0, 0, 0};

	put(mover, push, sizeof(push));
}

static void put_pushed(struct mover *mover)
{
	put(mover, "\0\0\0\0\0\0\0\0", 8);
	put_fixup(mover, CM_SITE_FIXUP_ABS64, 8, address_behind(mover));
	mover->has_ended = true;
}

static bool uses_rsp(const ZydisDecodedInstruction *instruction)
{
	if (instruction->raw.rex.B || instruction->raw.modrm.rm != 4)
		return false;
	return instruction->raw.modrm.mod == 3 || instruction->raw.sib.base == 4;
}

static int move_call(struct mover *mover)
{
	const ZydisDecodedInstruction *instruction = &mover->instruction;
	uint8_t copy[ZYDIS_MAX_INSTRUCTION_LENGTH];
	int rc;

	if (mover->at + instruction->length < mover->entry->n_jump)
		return refuse(mover->entry, -EINVAL,
			      "instruction: a call %zu bytes behind the entry, with more to move",
			      mover->at);
	if (instruction->opcode == 0xe8) {
		put_return_address(mover, 5);
		put_branch(mover, "\xe9", 1,
			   address_behind(mover) + (uint64_t)instruction->raw.imm[0].value.s);
		put_pushed(mover);
		return 0;
	}
	if (instruction->opcode != 0xff || instruction->raw.modrm.reg != 2 || uses_rsp(instruction))
		return refuse(mover->entry, -EINVAL,
			      "instruction: a call through the stack or to another segment");
	memcpy(copy, mover->code, instruction->length);
	copy[instruction->raw.modrm.offset] ^= 0x30; /* call is /2, jmp /4 */
	put_return_address(mover, instruction->length);
	rc = put_copy(mover, copy);
	put_pushed(mover);
	return rc;
}

static int move_relative(struct mover *mover)
{
	const ZydisDecodedInstruction *instruction = &mover->instruction;
	uint64_t target = address_behind(mover) + (uint64_t)instruction->raw.imm[0].value.s;
	uint8_t opcode[2] = {0x0f, (uint8_t)(0x80 | (instruction->opcode & 0x0f))};

	if (instruction->mnemonic == ZYDIS_MNEMONIC_JMP) {
		put_branch(mover, "\xe9", 1, target);
		mover->has_ended = true;
		return 0;
	}
	if ((instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	     (instruction->opcode & 0xf0) == 0x70) ||
	    (instruction->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	     (instruction->opcode & 0xf0) == 0x80)) {
		put_branch(mover, opcode, 2, target);
		return 0;
	}
	return refuse(mover->entry, -EINVAL, "instruction: %s %zu bytes behind the entry",
		      ZydisMnemonicGetString(instruction->mnemonic), mover->at);
}

/* Does nothing follow it? */
static bool is_end(const ZydisDecodedInstruction *instruction)
{
	return instruction->meta.category == ZYDIS_CATEGORY_RET ||
	       instruction->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_UD2 ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_HLT;
}

/* 66 before a branch means different things on different processors. */
static bool is_ambiguous(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !instruction->raw.rex.W;
}

static int move(struct mover *mover)
{
	const ZydisDecodedInstruction *instruction = &mover->instruction;
	bool is_relative = instruction->raw.imm[0].is_relative;
	int rc;

	mover->has_moved = true;
	if (is_relative && is_ambiguous(instruction))
		return refuse(mover->entry, -EINVAL,
			      "instruction: a branch with an operand size prefix");
	if (instruction->meta.category == ZYDIS_CATEGORY_CALL)
		return move_call(mover);
	if (is_relative)
		return move_relative(mover);
	rc = put_copy(mover, mover->code);
	mover->has_ended |= is_end(instruction);
	return rc;
}

/* push, or sub from rsp */
static bool makes_frame(const ZydisDecodedInstruction *instruction)
{
	return instruction->mnemonic == ZYDIS_MNEMONIC_PUSH ||
	       instruction->mnemonic == ZYDIS_MNEMONIC_ENTER ||
	       (instruction->mnemonic == ZYDIS_MNEMONIC_SUB &&
		(instruction->opcode & 0xfc) == 0x80 && instruction->raw.modrm.mod == 3 &&
		instruction->raw.modrm.rm == 4 && !instruction->raw.rex.B);
}

static int move_next(struct mover *mover, const ZydisDecoder *decoder, size_t n_function,
		     size_t n_all)
{
	struct cm_code_entry *entry = mover->entry;

	if (mover->at >= n_all)
		return refuse(entry, -ENOSPC, "short: %zu bytes", n_function);
	mover->code = entry->bytes + (mover->site->place - entry->address) + mover->at;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, mover->code,
							n_all - mover->at, &mover->instruction)))
		return refuse(entry, -EINVAL,
			      "instruction: none that is known %zu bytes behind the entry",
			      mover->at);
	if (mover->at < n_function && mover->at + mover->instruction.length > n_function)
		return refuse(entry, -EINVAL, "size: it ends within an instruction");
	entry->has_prologue |= makes_frame(&mover->instruction);
	if (!mover->has_ended &&
	    (mover->has_moved || mover->instruction.mnemonic != ZYDIS_MNEMONIC_NOP))
		return move(mover);
	return 0;
}

bool cm_code_entry_has_endbr(const uint8_t *bytes, size_t n_bytes)
{
	return n_bytes >= CM_CODE_ENDBR_BYTES && !memcmp(bytes, "\xf3\x0f\x1e\xfa", 4);
}

int cm_code_entry_plan(struct cm_code_entry *entry, struct cm_site_function *site)
{
	struct mover mover = {.entry = entry, .site = site};
	size_t skip =
		cm_code_entry_has_endbr(entry->bytes, entry->n_function) ? CM_CODE_ENDBR_BYTES : 0;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	entry->has_prologue = false;
	entry->n_instructions = 0;
	entry->reason[0] = '\0';
	site->offset = entry->address;
	site->place = entry->address + skip;
	site->n_moved = site->n_fixups = site->is_single = 0;
	while (mover.at < entry->n_jump) {
		int rc = move_next(&mover, &decoder, entry->n_function - skip, entry->n_all - skip);

		if (rc < 0)
			return rc;
		if (!mover.at)
			site->is_single = mover.instruction.length >= entry->n_jump ||
					  (mover.has_ended &&
					   mover.instruction.length == entry->n_function - skip);
		mover.at += mover.instruction.length;
		entry->n_instructions++;
	}
	if (!mover.has_ended)
		put_branch(&mover, "\xe9", 1, site->place + mover.at);
	if (mover.is_full || mover.at > CM_SITE_MAX_EXPECTED)
		return refuse(entry, -EINVAL, "instruction: more than can be kept");
	site->n_expected = (uint8_t)mover.at;
	memcpy(site->expected, entry->bytes + skip, mover.at);
	return 0;
}

size_t cm_code_entry_padding(const uint8_t *bytes, size_t n_bytes)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	size_t at = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (at < n_bytes &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, n_bytes - at,
							  &instruction)) &&
	       (instruction.mnemonic == ZYDIS_MNEMONIC_NOP ||
		instruction.mnemonic == ZYDIS_MNEMONIC_INT3 ||
		(instruction.length == 2 && bytes[at] == 0x66 && bytes[at + 1] == 0x90)))
		at += instruction.length;
	return at;
}

int cm_code_entry_calls(const uint8_t *bytes, size_t n_bytes, uint64_t address,
			const uint64_t *targets, size_t n_targets)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < n_bytes; at += instruction.length) {
		uint64_t target;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at,
								n_bytes - at, &instruction)))
			return -1;
		if (!instruction.raw.imm[0].is_relative ||
		    (instruction.opcode != 0xe8 && instruction.opcode != 0xe9 &&
		     instruction.opcode != 0xeb))
			continue;
		target = address + at + instruction.length +
			 (uint64_t)instruction.raw.imm[0].value.s;
		for (size_t i = 0; i < n_targets; i++)
			if (targets[i] == target)
				return (int)i;
	}
	return -1;
}
