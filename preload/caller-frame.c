/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of a caller's frame, by its row in .eh_frame. */
#include "preload/caller-frame.h"

#include <stdatomic.h>

#include "preload/frame-table.h"
#include "preload/object.h"

_Atomic uint64_t cm_caller_frames[CM_CALLER_SLOTS];

static uint32_t frame_words(const uint8_t *header, uint64_t pc)
{
	struct cm_frame_rows rows;
	struct cm_frame_cfa cfa;

	if (cm_frame_open(&rows, header, pc) < 0 || !cm_frame_find(&rows, pc, &cfa))
		return CM_CALLER_UNKNOWN;
	if (cfa.reg == CM_DWARF_RBP && cfa.offset == 16)
		return CM_CALLER_BY_RBP;
	if (cfa.reg != CM_DWARF_RSP || cfa.offset / 8 >= CM_CALLER_BY_RBP)
		return CM_CALLER_UNKNOWN;
	/*
	 * Stack arguments begin where rsp points after the return. The CFA is where the frame ends;
	 * the word below it, the caller's own return address, only makes the number even.
	 */
	return (uint32_t)(cfa.offset / 16 * 2);
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
