/* SPDX-License-Identifier: BSD-3-Clause */
/* Decode everything; only branches and addresses of tables matter. */
#include "collector/code-sweep.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define N_REGISTERS 16
#define RECENT 8 /* instructions between the computation of a target and the jump to it */

struct state {
	struct cm_code_sweep *sweep;
	const struct cm_elf_code *code;
	const struct cm_code_map *map;
	ZydisDecodedInstruction instruction;
	uint64_t address;		/* of it */
	uint64_t count;			/* of instructions, from RECENT on */
	uint64_t computed[N_REGISTERS]; /* the count when it became the sum of two, or was loaded
					   from an array */
};

static bool has_room(void *array, size_t n, size_t *n_room, size_t size)
{
	void **items = array, *more;

	if (n < *n_room)
		return true;
	more = reallocarray(*items, *n_room ? 2 * *n_room : 256, size);
	if (!more)
		return false;
	*items = more;
	*n_room = *n_room ? 2 * *n_room : 256;
	return true;
}

int cm_code_sweep_add(struct cm_code_sweep *sweep, const struct cm_code_map *map, uint64_t from,
		      uint64_t to, enum cm_code_branch_kind kind)
{
	if (!cm_code_map_has(map->watched, map, to))
		return 0;
	if ((kind == CM_BRANCH_CALL || kind == CM_BRANCH_WORD) &&
	    cm_code_map_has(map->starts, map, to))
		return 0;
	if (!has_room(&sweep->branches, sweep->n_branches, &sweep->n_branch_room,
		      sizeof(sweep->branches[0])))
		return -ENOMEM;
	sweep->branches[sweep->n_branches++] = (struct cm_code_branch){from, to, (uint8_t)kind};
	return 0;
}

int cm_code_sweep_add_word(struct cm_code_sweep *sweep, const struct cm_code_map *map,
			   uint64_t place, uint64_t value)
{
	if (cm_code_map_has(map->starts, map, value))
		return 0;
	if (!has_room(&sweep->words, sweep->n_words, &sweep->n_word_room, sizeof(sweep->words[0])))
		return -ENOMEM;
	sweep->words[sweep->n_words++] = value;
	return cm_code_sweep_add(sweep, map, place, value, CM_BRANCH_WORD);
}

/* Keep it if its first entry is an address of code. */
static int add_table(const struct state *state, uint64_t table, bool is_absolute)
{
	struct cm_code_sweep *sweep = state->sweep;
	const uint8_t *bytes = cm_elf_code_at(state->code, table, is_absolute ? 8 : 4);
	uint64_t first;
	int32_t distance;

	if (!bytes)
		return 0;
	memcpy(&distance, bytes, sizeof(distance));
	first = table + (uint64_t)(int64_t)distance;
	if (is_absolute)
		memcpy(&first, bytes, sizeof(first));
	if (!distance || !cm_elf_code_text(state->code, first))
		return 0;
	if (!has_room(&sweep->tables, sweep->n_tables, &sweep->n_table_room,
		      sizeof(sweep->tables[0])))
		return -ENOMEM;
	sweep->tables[sweep->n_tables++] =
		(struct cm_code_table){state->address, table, first, is_absolute};
	return 0;
}

/* lea distance(%rip): a table, or the very address of a label. */
static int see_address(const struct state *state, uint64_t target)
{
	int rc = 0;

	if (!cm_code_map_has(state->map->starts, state->map, target))
		rc = cm_code_sweep_add(state->sweep, state->map, state->address, target,
				       CM_BRANCH_TABLE);
	return rc < 0 ? rc : add_table(state, target, false);
}

static bool has_index(const ZydisDecodedInstruction *instruction)
{
	return instruction->raw.modrm.mod != 3 && instruction->raw.modrm.rm == 4 &&
	       (instruction->raw.sib.index != 4 || instruction->raw.rex.X);
}

/* Memory at distance(,index,8): *ret_table is the distance. */
static bool is_array(const ZydisDecodedInstruction *instruction, uint64_t *ret_table)
{
	if (!has_index(instruction) || instruction->raw.modrm.mod != 0 ||
	    instruction->raw.sib.base != 5 || instruction->raw.sib.scale != 3)
		return false;
	*ret_table = (uint64_t)instruction->raw.disp.value;
	return true;
}

static bool is_notrack(const ZydisDecodedInstruction *instruction)
{
	for (unsigned int i = 0; i < instruction->raw.prefix_count; i++)
		if (instruction->raw.prefixes[i].value == 0x3e)
			return true;
	return false;
}

/* jmp *somewhere. Through a slot (rip-relative), or a pointer in an object, it is a tail call. */
static int see_jump(const struct state *state)
{
	const ZydisDecodedInstruction *instruction = &state->instruction;
	struct cm_code_sweep *sweep = state->sweep;
	uint64_t table;
	bool is_computed = is_notrack(instruction) || has_index(instruction);
	int rc = 0;

	if (instruction->raw.modrm.mod == 3)
		is_computed |= state->count - state->computed[instruction->raw.modrm.rm |
							      instruction->raw.rex.B << 3] <=
			       RECENT;
	if (is_array(instruction, &table))
		rc = add_table(state, table, true);
	if (rc < 0 || !is_computed)
		return rc;
	if (!has_room(&sweep->jumps, sweep->n_jumps, &sweep->n_jump_room, sizeof(sweep->jumps[0])))
		return -ENOMEM;
	sweep->jumps[sweep->n_jumps++] = state->address;
	return 0;
}

/* Opcodes of one byte. */
static int see_plain(struct state *state)
{
	const ZydisDecodedInstruction *instruction = &state->instruction;
	unsigned int reg = instruction->raw.modrm.reg | instruction->raw.rex.R << 3;
	unsigned int rm = instruction->raw.modrm.rm | instruction->raw.rex.B << 3;
	bool is_register = instruction->raw.modrm.mod == 3;
	uint64_t table;

	switch (instruction->opcode) {
	case 0x01: /* add reg, rm */
		if (is_register)
			state->computed[rm] = state->count;
		return 0;
	case 0x03: /* add rm, reg */
		state->computed[reg] = state->count;
		return 0;
	case 0x8b: /* mov rm, reg */
		if (has_index(instruction))
			state->computed[reg] = state->count;
		return is_array(instruction, &table) ? add_table(state, table, true) : 0;
	case 0x8d: /* lea */
		if (has_index(instruction))
			state->computed[reg] = state->count;
		if (instruction->raw.modrm.mod != 0 || instruction->raw.modrm.rm != 5)
			return 0;
		return see_address(state, state->address + instruction->length +
						  (uint64_t)instruction->raw.disp.value);
	case 0xff:
		return instruction->raw.modrm.reg == 4 ? see_jump(state) : 0;
	default:
		return 0;
	}
}

static int see(struct state *state)
{
	const ZydisDecodedInstruction *instruction = &state->instruction;

	if (instruction->raw.imm[0].is_relative)
		return cm_code_sweep_add(state->sweep, state->map, state->address,
					 state->address + instruction->length +
						 (uint64_t)instruction->raw.imm[0].value.s,
					 instruction->opcode == 0xe8 &&
							 instruction->opcode_map ==
								 ZYDIS_OPCODE_MAP_DEFAULT
						 ? CM_BRANCH_CALL
						 : CM_BRANCH_JUMP);
	if (instruction->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	    instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return see_plain(state);
	return 0;
}

/* One function, or what lies behind it. */
static int sweep_range(struct state *state, const ZydisDecoder *decoder, const uint8_t *bytes,
		       uint64_t begin, uint64_t end)
{
	uint64_t at = begin;
	int rc = 0;

	while (rc >= 0 && at < end) {
		const uint8_t *here = bytes + (at - begin);

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, here, end - at,
								&state->instruction))) {
			at++;
			continue;
		}
		state->address = at;
		state->count++;
		rc = see(state);
		at += state->instruction.length;
	}
	return rc;
}

int cm_code_sweep(struct cm_code_sweep *sweep, const struct cm_elf_code *code,
		  const struct cm_code_map *map)
{
	struct state state = {.sweep = sweep, .code = code, .map = map, .count = 2 * RECENT};
	ZydisDecoder decoder;
	int rc = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	for (size_t i = 0; i < code->n_texts; i++) {
		const struct cm_code_part *text = &code->texts[i];
		uint64_t at = text->begin;

		while (rc >= 0 && at < text->end && !text->is_plt) {
			uint64_t next = cm_code_map_next_start(map, at + 1, text->end);

			rc = sweep_range(&state, &decoder, text->bytes + (at - text->begin), at,
					 next);
			at = next;
		}
	}
	return rc;
}

static int by_to(const void *a, const void *b)
{
	const struct cm_code_branch *x = a, *y = b;

	return (x->to > y->to) - (x->to < y->to);
}

static int by_at(const void *a, const void *b)
{
	const struct cm_code_table *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void cm_code_sweep_sort(struct cm_code_sweep *sweep)
{
	if (sweep->n_branches)
		qsort(sweep->branches, sweep->n_branches, sizeof(sweep->branches[0]), by_to);
	if (sweep->n_tables)
		qsort(sweep->tables, sweep->n_tables, sizeof(sweep->tables[0]), by_at);
	if (sweep->n_words)
		qsort(sweep->words, sweep->n_words, sizeof(sweep->words[0]), by_value);
}

void cm_code_sweep_fini(struct cm_code_sweep *sweep)
{
	free(sweep->branches);
	free(sweep->tables);
	free(sweep->jumps);
	free(sweep->words);
	memset(sweep, 0, sizeof(*sweep));
}

/* The first of n ascending rows whose number, key_off into the row, is not below `value`. */
static size_t first_of(const void *rows, size_t n, size_t n_row, size_t key_off, uint64_t value)
{
	size_t low = 0;

	while (low < n) {
		size_t mid = low + (n - low) / 2;
		const char *row = (const char *)rows + mid * n_row;

		if (*(const uint64_t *)(row + key_off) < value)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

size_t cm_code_sweep_first(const struct cm_code_sweep *sweep, uint64_t to)
{
	return first_of(sweep->branches, sweep->n_branches, sizeof(sweep->branches[0]),
			offsetof(struct cm_code_branch, to), to);
}

static size_t first_table(const struct cm_code_sweep *sweep, uint64_t at)
{
	return first_of(sweep->tables, sweep->n_tables, sizeof(sweep->tables[0]),
			offsetof(struct cm_code_table, at), at);
}

static size_t first_number(const uint64_t *numbers, size_t n, uint64_t value)
{
	return first_of(numbers, n, sizeof(numbers[0]), 0, value);
}

bool cm_code_sweep_is_unknown(const struct cm_code_sweep *sweep, uint64_t begin, uint64_t end)
{
	size_t i = first_number(sweep->jumps, sweep->n_jumps, begin);

	if (i == sweep->n_jumps || sweep->jumps[i] >= end)
		return false;
	i = first_number(sweep->words, sweep->n_words, begin + 1);
	if (i < sweep->n_words && sweep->words[i] < end)
		return false;
	for (i = first_table(sweep, begin); i < sweep->n_tables && sweep->tables[i].at < end; i++)
		if (sweep->tables[i].first >= begin && sweep->tables[i].first < end)
			return false;
	return true;
}
