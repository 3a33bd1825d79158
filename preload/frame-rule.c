/* SPDX-License-Identifier: BSD-3-Clause */
/* From the row of an unwind table to a step, and finding the table. */
#include "preload/frame-rule.h"

#include "preload/object.h"
#include "preload/unlisted.h"

#define CM_RESTORER_BYTES 9

_Atomic uint64_t cm_frame_steps[CM_STEP_SLOTS];
static _Atomic bool has_steps;

/* What is around an address. */
struct place {
	const uint8_t *unwind_table; /* or NULL */
	bool is_ours;
	bool has_restorer; /* where a handler returns to: mov $15,%rax; syscall */
};

static struct place look_around(uint64_t pc, bool is_exact)
{
	static const uint8_t restorer[CM_RESTORER_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0x00,
							    0x00, 0x00, 0x0f, 0x05};
	const struct cm_object *object = cm_object_of((const void *)pc);
	struct place place = {0};

	if (!object) {
		place.unwind_table = cm_unlisted_table(pc);
		return place;
	}
	place.unwind_table = object->unwind_table;
	/* Unit tests have us in the program itself. */
	place.is_ours = !object->is_main &&
			(uint64_t)&cm_frame_steps - object->low < object->high - object->low;
	place.has_restorer = !is_exact && cm_object_has_code(object, pc) &&
			     cm_object_has_code(object, pc + CM_RESTORER_BYTES - 1) &&
			     !__builtin_memcmp((const void *)pc, restorer, CM_RESTORER_BYTES);
	return place;
}

/*
 * The row in force at the call before a return address. One to the first instruction of a function
 * has no call before it: makecontext and the like have put it there, and nothing is above.
 */
static bool find_row(const uint8_t *table, uint64_t pc, bool is_exact, struct cm_frame_row *ret_row)
{
	struct cm_frame_rows rows;
	uint64_t at = is_exact ? pc : pc - 1;

	if (!table)
		return false;
	if (!cm_frame_open(&rows, table, at))
		return cm_frame_find_row(&rows, at, ret_row);
	if (is_exact || cm_frame_open(&rows, table, pc) < 0 || rows.start != pc)
		return false;
	*ret_row = (struct cm_frame_row){.return_address = CM_RETURN_NONE};
	return true;
}

static bool fits(int64_t offset, int n_bits)
{
	int64_t n_words = offset / 8, limit = INT64_C(1) << (n_bits - 1);

	return offset % 8 == 0 && n_words >= -limit && n_words < limit;
}

static enum cm_step_kind kind_of(const struct cm_frame_row *row)
{
	if (row->return_address == CM_RETURN_NONE)
		return CM_STEP_END;
	if (row->return_address == CM_RETURN_UNKNOWN)
		return CM_STEP_CUT;
	if (row->cfa.reg == CM_FRAME_AT_RBP)
		return CM_STEP_AT_RBP;
	return row->cfa.reg == CM_DWARF_RSP   ? CM_STEP_BY_RSP
	       : row->cfa.reg == CM_DWARF_RBP ? CM_STEP_BY_RBP
					      : CM_STEP_CUT;
}

static uint64_t pack(const struct cm_frame_row *row)
{
	enum cm_step_kind kind = kind_of(row);
	int64_t offset = (int64_t)row->cfa.offset;

	if (kind == CM_STEP_END || kind == CM_STEP_CUT)
		return (uint64_t)kind << CM_STEP_KIND_SHIFT;
	if (!fits(offset, 16) || !fits(row->rbp_offset, 8))
		return (uint64_t)CM_STEP_WIDE << CM_STEP_KIND_SHIFT;
	return (uint64_t)kind << CM_STEP_KIND_SHIFT |
	       (uint64_t)(uint16_t)(offset / 8) << CM_STEP_OFFSET_SHIFT |
	       (uint64_t)row->rbp << CM_STEP_RBP_SHIFT | (uint8_t)(row->rbp_offset / 8);
}

uint64_t cm_frame_step_cold(uint64_t pc, bool is_exact)
{
	struct place place = look_around(pc, is_exact);
	struct cm_frame_row row;
	uint64_t step = cm_step_tag(pc, is_exact);

	if (place.has_restorer)
		step |= (uint64_t)CM_STEP_SIGNAL << CM_STEP_KIND_SHIFT;
	else if (find_row(place.unwind_table, pc, is_exact, &row))
		step |= pack(&row);
	else
		step |= (uint64_t)CM_STEP_CUT << CM_STEP_KIND_SHIFT;
	if (place.is_ours)
		step |= CM_STEP_HIDDEN_BIT;
	if (pc >> CM_STEP_ADDRESS_BITS)
		return step;
	atomic_store_explicit(&has_steps, true, memory_order_relaxed);
	atomic_store_explicit(&cm_frame_steps[cm_step_slot(pc)], step, memory_order_relaxed);
	return step;
}

bool cm_frame_row_at(uint64_t pc, bool is_exact, struct cm_frame_row *ret_row)
{
	return find_row(look_around(pc, is_exact).unwind_table, pc, is_exact, ret_row);
}

void cm_frame_steps_reset(void)
{
	/* Most processes keep no call paths: their pages of it are never touched. */
	if (!atomic_exchange_explicit(&has_steps, false, memory_order_relaxed))
		return;
	for (uint32_t i = 0; i < CM_STEP_SLOTS; i++)
		atomic_store_explicit(&cm_frame_steps[i], 0, memory_order_relaxed);
}
