/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over the code of a function, and over the parts of it that stand elsewhere (.cold) and
 * the functions it ends in (tail calls): those see the same stack arguments.
 *
 * Every instruction is looked at, whatever the flow of control, so jump tables need not be
 * followed. Offsets are from the CFA, which is where the stack arguments begin: those below -8
 * are in the function's own frame, -8 is the return address.
 *
 * Registers into which a stack address was copied are watched too, whatever else they hold at
 * other times: assembly may use any register for its frame. That errs to the safe side.
 */
#include "preload/callee-stack.h"

#include "preload/entries.h"
#include "preload/frame-table.h"
#include "preload/instruction.h"
#include "preload/object.h"
#include "preload/stub.h"

#define CM_MAX_PARTS 8
#define CM_MAX_CODE_BYTES (256u << 10)
#define CM_MAX_WORDS 8192 /* 64 KiB: the most that a rule may ask for */
#define CM_NEVER INT64_MIN

struct scan {
	struct cm_callee_stack *out;
	uint64_t parts[CM_MAX_PARTS]; /* starts of what was looked at, or will be */
	int n_parts;
	uint64_t n_bytes;
	int64_t copied[16]; /* highest offset that the register may point to, CM_NEVER: none */
	int64_t used[16];   /* highest displacement from it in a memory operand */
	uint16_t moved[16]; /* bit r: this register was copied to register r */
};

/* One instruction and the frame around it. */
struct place {
	const struct cm_instruction *code;
	uint64_t end;		/* its */
	bool has_frame_pointer; /* the CFA is rbp + 16; else rsp + offset */
	int64_t rsp;		/* its offset; with a frame pointer, the highest that it can be */
};

static void give_up(struct scan *scan)
{
	scan->out->is_complete = false;
}

static void leave_open(struct scan *scan)
{
	scan->out->is_open = true;
	give_up(scan);
}

/* Sizes are those of the largest registers: a few words too many do no harm. */
static void read_incoming(struct scan *scan, const struct cm_instruction *code, int64_t offset)
{
	bool is_x87 = code->map == CM_MAP_ONE_BYTE && (code->opcode & 0xf8) == 0xd8;
	int64_t n_bytes = code->form == CM_FORM_EVEX  ? 64
			  : code->form == CM_FORM_VEX ? 32
			  : code->map || is_x87	      ? 16
						      : 8;
	int64_t n_words = (offset + n_bytes + 7) / 8;

	if (offset < 0)
		return;
	if (n_words > CM_MAX_WORDS) {
		give_up(scan);
		n_words = CM_MAX_WORDS;
	}
	if (n_words > scan->out->n_words)
		scan->out->n_words = (uint32_t)n_words;
}

/* A register is made to point somewhere into the stack. */
static void copy_address(struct scan *scan, uint8_t reg, int64_t offset)
{
	if (reg == CM_REG_RSP)
		return; /* the unwind table says what it is then */
	if (offset >= -8) {
		leave_open(scan);
	} else if (offset > scan->copied[reg]) {
		scan->copied[reg] = offset;
	}
}

/* Is it an offset from the CFA that this register holds? */
static bool is_stack_register(const struct place *place, uint8_t reg)
{
	return reg == CM_REG_RSP || (reg == CM_REG_RBP && place->has_frame_pointer);
}

static int64_t offset_of(const struct place *place, uint8_t reg)
{
	return reg == CM_REG_RSP ? place->rsp : -16;
}

static bool is_legacy(const struct cm_instruction *code, unsigned int map)
{
	return code->form == CM_FORM_LEGACY && code->map == map;
}

/* Is ModRM.reg a part of the opcode, no register? */
static bool is_group(const struct cm_instruction *code)
{
	return is_legacy(code, CM_MAP_ONE_BYTE) &&
	       ((code->opcode & 0xfc) == 0x80 || (code->opcode & 0xfe) == 0xc0 ||
		(code->opcode & 0xfc) == 0xd0 || (code->opcode & 0xfe) == 0xc6 ||
		(code->opcode & 0xf6) == 0xf6 || code->opcode == 0x8f);
}

static void use(struct scan *scan, uint8_t reg, int64_t disp)
{
	if (reg < 16 && disp > scan->used[reg])
		scan->used[reg] = disp;
}

static void look_at_memory(struct scan *scan, const struct place *place)
{
	const struct cm_instruction *code = place->code;
	bool is_lea = is_legacy(code, CM_MAP_ONE_BYTE) && code->opcode == 0x8d;
	int64_t disp = code->is_scaled && code->disp > 0 ? code->disp * 64 : code->disp;
	bool has_stack_base = code->base < 16 && is_stack_register(place, code->base);

	if (has_stack_base && code->has_address_prefix)
		give_up(scan);
	if (is_lea && has_stack_base)
		copy_address(scan, code->reg, offset_of(place, code->base) + disp);
	else if (is_lea && code->base < 16)
		scan->moved[code->base] |= (uint16_t)(1u << code->reg);
	else if (has_stack_base)
		read_incoming(scan, code, offset_of(place, code->base) + disp);
	if (is_lea && code->index < 16)
		scan->moved[code->index] |= (uint16_t)(1u << code->reg);
	if (!has_stack_base)
		use(scan, code->base, disp);
	use(scan, code->index, disp);
	/* rsp is stored, or computed with; loads and comparisons are harmless. */
	if (code->reg == CM_REG_RSP && code->is_wide && is_legacy(code, CM_MAP_ONE_BYTE) &&
	    !is_group(code) && !is_lea && code->opcode != 0x8b && code->opcode != 0x39 &&
	    code->opcode != 0x3b && code->opcode != 0x85)
		give_up(scan);
}

static void move(struct scan *scan, const struct place *place, uint8_t from, uint8_t to)
{
	if (is_stack_register(place, from))
		copy_address(scan, to, offset_of(place, from));
	else if (to != CM_REG_RSP)
		scan->moved[from] |= (uint16_t)(1u << to);
}

/* Of the one-byte map: does it compute with a stack address, or move the stack unseen? */
static bool is_obscure(const struct place *place, bool has_rsp)
{
	const struct cm_instruction *code = place->code;

	switch (code->opcode) {
	case 0x81: /* add, sub, and ... with a constant */
	case 0x83:
	case 0x39: /* cmp, test */
	case 0x3b:
	case 0x85:
	case 0x89: /* mov */
	case 0x8b:
	case 0xff:
		return false;
	case 0x29: /* alloca takes from rsp; then the CFA is known by rbp */
		return has_rsp && !(code->rm == CM_REG_RSP && place->has_frame_pointer);
	case 0x54: /* push */
	case 0x94: /* xchg */
		return code->rm == CM_REG_RSP;
	case 0xc2: /* ret that takes arguments off */
	case 0xc8: /* enter */
		return true;
	default:
		return has_rsp && code->is_wide;
	}
}

/* Instructions without memory operand that are no vector instructions. */
static void look_at_registers(struct scan *scan, const struct place *place)
{
	const struct cm_instruction *code = place->code;
	bool has_rsp = code->has_modrm &&
		       (code->rm == CM_REG_RSP || (code->reg == CM_REG_RSP && !is_group(code)));

	if (code->map != CM_MAP_ONE_BYTE) {
		if (has_rsp && code->is_wide)
			give_up(scan);
		return;
	}
	if (code->opcode == 0x89 || code->opcode == 0x01) /* mov, add */
		move(scan, place, code->reg, code->rm);
	if (code->opcode == 0x8b || code->opcode == 0x03)
		move(scan, place, code->rm, code->reg);
	if (is_obscure(place, has_rsp))
		give_up(scan);
}

/* A register may have been handed on by way of others. */
static void follow_moves(struct scan *scan)
{
	for (int round = 0; round < 16; round++)
		for (int from = 0; from < 16; from++)
			for (int to = 0; to < 16; to++)
				if (scan->moved[from] >> to & 1 &&
				    scan->copied[from] > scan->copied[to])
					scan->copied[to] = scan->copied[from];
	for (int reg = 0; reg < 16; reg++) {
		if (scan->copied[reg] == CM_NEVER || scan->used[reg] == CM_NEVER ||
		    scan->copied[reg] + scan->used[reg] < 0)
			continue;
		give_up(scan);
	}
}

static void add_part(struct scan *scan, uint64_t address)
{
	for (int i = 0; i < scan->n_parts; i++)
		if (scan->parts[i] == address)
			return;
	if (scan->n_parts == CM_MAX_PARTS)
		give_up(scan);
	else
		scan->parts[scan->n_parts++] = address;
}

/* Where control may go from here, other than to the next instruction and into calls. */
static void look_at_jump(struct scan *scan, const struct place *place,
			 const struct cm_frame_rows *rows)
{
	const struct cm_instruction *code = place->code;
	bool is_direct = code->map == CM_MAP_ONE_BYTE
				 ? code->opcode == 0xe9 || code->opcode == 0xeb ||
					   (code->opcode & 0xf0) == 0x70 ||
					   (code->opcode & 0xfc) == 0xe0
				 : code->map == CM_MAP_0F && (code->opcode & 0xf0) == 0x80;
	uint64_t target = place->end + (uint64_t)code->immediate;

	if (code->form != CM_FORM_LEGACY)
		return;
	if (is_direct && (target < rows->start || target >= rows->end))
		add_part(scan, target);
	/* A jump table is used with a frame, a tail call without one. */
	if (code->map == CM_MAP_ONE_BYTE && code->opcode == 0xff &&
	    ((code->reg & 7) == 4 || (code->reg & 7) == 5) && !code->is_notrack &&
	    !place->has_frame_pointer && place->rsp >= -8)
		give_up(scan);
}

/* What has been pushed and reserved below a frame pointer since it was set, at least. */
struct depth {
	int64_t n_bytes;
	bool is_final;
};

static void follow_depth(struct depth *depth, const struct place *place)
{
	const struct cm_instruction *code = place->code;
	bool is_push = code->map == CM_MAP_ONE_BYTE && (code->opcode & 0xf8) == 0x50;
	bool is_sub = code->map == CM_MAP_ONE_BYTE && !code->has_memory &&
		      (code->opcode == 0x83 || code->opcode == 0x81) && code->reg == 5 &&
		      code->rm == CM_REG_RSP;

	if (!place->has_frame_pointer || depth->is_final)
		return;
	if (is_push)
		depth->n_bytes += 8;
	if (is_sub)
		depth->n_bytes += code->immediate;
	depth->is_final = !is_push;
}

static bool set_frame(struct place *place, struct cm_frame_rows *rows, uint64_t pc,
		      const struct depth *depth)
{
	struct cm_frame_cfa cfa;

	if (!cm_frame_find(rows, pc, &cfa))
		return false;
	place->has_frame_pointer = cfa.reg == CM_DWARF_RBP && cfa.offset == 16;
	place->rsp = place->has_frame_pointer ? -16 - depth->n_bytes : -(int64_t)cfa.offset;
	return place->has_frame_pointer || cfa.reg == CM_DWARF_RSP;
}

/*
 * A PLT entry, where a function ends by calling one of another object: what is behind its slot, or
 * behind the stub there. One that is not bound yet leads back into the PLT, which has no rows.
 */
static bool follow_plt(struct scan *scan, uint64_t address)
{
	struct cm_instruction code;
	const uint8_t *at = (const uint8_t *)address;
	uint64_t target;

	if (!__builtin_memcmp(at, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (!cm_instruction_decode(&code, at, 15) || !is_legacy(&code, CM_MAP_ONE_BYTE) ||
	    code.opcode != 0xff || code.reg != 4 || code.base != CM_REG_RIP)
		return false;
	target = *(const volatile uint64_t *)((uint64_t)at + code.length + (uint64_t)code.disp);
	add_part(scan, (uint64_t)cm_stub_original((const void *)target));
	return true;
}

/* What stands at pc, or stood there before the function's entry was patched. */
static bool decode(struct cm_instruction *code, uint64_t pc, uint64_t end,
		   const struct cm_site_function *patched, const struct cm_object *object)
{
	uint64_t place = patched ? object->base + patched->place : 0;
	uint8_t bytes[15];
	size_t n = end - pc < sizeof(bytes) ? end - pc : sizeof(bytes);

	if (!patched || pc >= place + patched->n_expected || pc + n <= place)
		return cm_instruction_decode(code, (const uint8_t *)pc, end - pc);
	for (size_t i = 0; i < n; i++)
		bytes[i] = pc + i >= place && pc + i < place + patched->n_expected
				   ? patched->expected[pc + i - place]
				   : ((const uint8_t *)pc)[i];
	return cm_instruction_decode(code, bytes, n);
}

static void scan_part(struct scan *scan, uint64_t address)
{
	const struct cm_object *object = cm_object_of((const void *)address);
	struct cm_frame_rows rows;
	struct depth depth = {0};
	const struct cm_site_function *patched;
	uint64_t pc;

	if (object && cm_object_has_code(object, address + 31) && follow_plt(scan, address))
		return;
	if (!object || !object->unwind_table ||
	    cm_frame_open(&rows, object->unwind_table, address) < 0 ||
	    !cm_object_has_code(object, rows.end - 1)) {
		leave_open(scan);
		return;
	}
	patched = cm_entries_find(object, rows.start);
	for (pc = rows.start; pc < rows.end;) {
		struct cm_instruction code;
		struct place place = {.code = &code};

		if (!decode(&code, pc, rows.end, patched, object) ||
		    !set_frame(&place, &rows, pc, &depth) ||
		    (scan->n_bytes += code.length) > CM_MAX_CODE_BYTES) {
			leave_open(scan);
			return;
		}
		pc += code.length;
		place.end = pc;
		if (code.has_memory)
			look_at_memory(scan, &place);
		else if (code.form == CM_FORM_LEGACY)
			look_at_registers(scan, &place);
		look_at_jump(scan, &place, &rows);
		follow_depth(&depth, &place);
	}
}

void cm_callee_scan(struct cm_callee_stack *ret_stack, const void *function)
{
	struct scan scan = {.out = ret_stack, .parts = {(uint64_t)function}, .n_parts = 1};

	*ret_stack = (struct cm_callee_stack){.is_complete = true};
	for (int i = 0; i < 16; i++)
		scan.copied[i] = scan.used[i] = CM_NEVER;
	for (int i = 0; i < scan.n_parts; i++)
		scan_part(&scan, scan.parts[i]);
	follow_moves(&scan);
}
