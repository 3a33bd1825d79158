/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How an object's code uses the slots of its global offset table, and which may be changed.
 *
 * A contract header: the preload looks at loaded code, `callmark symbols` at code in a file, and
 * both must come to the same answer. Pure functions; init only (they use vector registers).
 */
#ifndef CALLMARK_PRELOAD_SLOT_USE_H
#define CALLMARK_PRELOAD_SLOT_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Several may be set. */
enum cm_slot_use {
	CM_SLOT_CALLED = 1,   /* call *slot(%rip): compiled with -fno-plt; or loaded only to call */
	CM_SLOT_JUMPED = 2,   /* jmp *slot(%rip): a .plt.got entry, or a tail call */
	CM_SLOT_LOADED = 4,   /* mov, push: its value is passed on, or may be */
	CM_SLOT_COMPARED = 8, /* cmp, test */
};

/*
 * Add to uses[i] how the n_bytes of code, which run at `address`, use slots[i] (ascending
 * addresses of n_slots slots).
 */
void cm_slot_use_scan(const uint8_t *code, size_t n_bytes, uint64_t address, const uint64_t *slots,
		      uint8_t *uses, uint32_t n_slots);

/*
 * May such a slot be changed? Only if calls go through it and the program cannot notice: code that
 * passes the function's address on, or compares it, must get the one that other objects have.
 */
bool cm_slot_use_may_change(unsigned int uses);

#endif
