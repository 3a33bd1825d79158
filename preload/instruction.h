/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One x86-64 machine instruction: its length, its operands as far as they are registers, memory
 * or a distance to jump; not what it does. Formats: Intel SDM volume 2, chapters 2 and appendix A.
 *
 * Pure functions, any thread, hook-safe.
 */
#ifndef CALLMARK_PRELOAD_INSTRUCTION_H
#define CALLMARK_PRELOAD_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* General registers by their number in instructions; 0..15. */
#define CM_REG_RAX 0
#define CM_REG_RSP 4
#define CM_REG_RBP 5
#define CM_REG_NONE 16
#define CM_REG_RIP 17

enum cm_instruction_map {
	CM_MAP_ONE_BYTE = 0,
	CM_MAP_0F = 1,
	CM_MAP_0F38 = 2,
	CM_MAP_0F3A = 3,
};

/* How the instruction begins; VEX and EVEX ones work on vector or mask registers. */
enum cm_instruction_form { CM_FORM_LEGACY, CM_FORM_VEX, CM_FORM_EVEX };

struct cm_instruction {
	uint8_t length;
	uint8_t form;	/* enum cm_instruction_form */
	uint8_t map;	/* enum cm_instruction_map; EVEX has 5 and 6 too */
	uint8_t opcode; /* last byte */
	bool has_modrm;
	bool has_memory; /* mod is not 3 */
	bool is_wide;	 /* 64-bit operands (REX.W) */
	bool is_notrack; /* prefix 3e */
	bool has_address_prefix;
	uint8_t reg;	     /* ModRM.reg, REX.R included: a register or part of the opcode */
	uint8_t rm;	     /* register, when !has_memory */
	uint8_t base;	     /* of the memory operand: 0..15, CM_REG_NONE, CM_REG_RIP */
	uint8_t index;	     /* 0..15, CM_REG_NONE */
	bool is_scaled;	     /* disp counts vectors of a size that is not decoded (EVEX, 8 bits) */
	int64_t disp;	     /* of the memory operand */
	int64_t immediate;   /* sign-extended; of a direct jump or call, the distance to its target
				from the instruction's end */
	uint8_t n_immediate; /* bytes */
};

/* Decode what begins at code, of which n_bytes can be read. false: no instruction that is known. */
bool cm_instruction_decode(struct cm_instruction *instruction, const uint8_t *code, size_t n_bytes);

#endif
