/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How to get from a frame to its caller's, remembered for each return address.
 *
 *	step = cm_frame_step(pc, is_exact)	fast: one load and a comparison
 *
 * A step is one word, so that threads read what others write without a lock: the address and, in
 * its lower bits, what the unwind table says there. Where the table says what does not fit, the
 * kind is CM_STEP_WIDE and cm_frame_row_at() tells it each time.
 *
 * hook-safe: no lock, no libc. cm_frame_step() of an address that is not known takes about a
 * microsecond; in an object that the registry does not know (yet), with system calls.
 */
#ifndef CALLMARK_PRELOAD_FRAME_RULE_H
#define CALLMARK_PRELOAD_FRAME_RULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/frame-table.h"

#define CM_STEP_SLOT_BITS 14
#define CM_STEP_SLOTS (1u << CM_STEP_SLOT_BITS)
#define CM_STEP_ADDRESS_BITS 47 /* larger ones are looked up each time */

enum cm_step_kind {
	CM_STEP_FREE = 0, /* the slot is not used */
	CM_STEP_BY_RSP,	  /* CFA = rsp + offset */
	CM_STEP_BY_RBP,	  /* CFA = rbp + offset */
	CM_STEP_AT_RBP,	  /* CFA = the word at rbp + offset */
	CM_STEP_END,	  /* nobody called this frame */
	CM_STEP_CUT,	  /* no unwind information, or none that is understood */
	CM_STEP_SIGNAL,	  /* the kernel's frame of a handler: an ucontext_t at rsp */
	CM_STEP_WIDE,
};

/*
 * 63..31 address >> CM_STEP_SLOT_BITS (with the slot: all of the address), 30 exact, 29..27 kind,
 * 26 hidden, 25..10 offset of the CFA in words, 9..8 enum cm_frame_rbp, 7..0 its offset in words.
 */
#define CM_STEP_TAG_SHIFT 31
#define CM_STEP_EXACT_BIT (1u << 30)
#define CM_STEP_KIND_SHIFT 27
#define CM_STEP_HIDDEN_BIT (1u << 26)		/* a frame of ours: not the program's */
#define CM_STEP_KIND_MASK (UINT32_C(0xf) << 26) /* with the hidden bit */
#define CM_STEP_OFFSET_SHIFT 10
#define CM_STEP_RBP_SHIFT 8
#define CM_STEP_RBP_MASK (UINT32_C(3) << CM_STEP_RBP_SHIFT)

extern _Atomic uint64_t cm_frame_steps[CM_STEP_SLOTS];

/* The slot of an address, and what stands in it above CM_STEP_EXACT_BIT, and that. */
static inline uint32_t cm_step_slot(uint64_t pc)
{
	return (uint32_t)((pc ^ pc >> CM_STEP_SLOT_BITS) & (CM_STEP_SLOTS - 1));
}

static inline uint64_t cm_step_tag(uint64_t pc, bool is_exact)
{
	return pc >> CM_STEP_SLOT_BITS << CM_STEP_TAG_SHIFT |
	       (is_exact ? (uint64_t)CM_STEP_EXACT_BIT : 0);
}

static inline enum cm_step_kind cm_step_kind(uint64_t step)
{
	return (enum cm_step_kind)(step >> CM_STEP_KIND_SHIFT & 7);
}

static inline int64_t cm_step_offset(uint64_t step)
{
	return (int64_t)(int16_t)(step >> CM_STEP_OFFSET_SHIFT) * 8;
}

static inline enum cm_frame_rbp cm_step_rbp(uint64_t step)
{
	return (enum cm_frame_rbp)(step >> CM_STEP_RBP_SHIFT & 3);
}

static inline int64_t cm_step_rbp_offset(uint64_t step)
{
	return (int64_t)(int8_t)step * 8;
}

/* What is remembered; 0: nothing. A free slot is the address 0, which no frame has. */
static inline __attribute__((always_inline)) uint64_t cm_frame_step_find(uint64_t pc, bool is_exact)
{
	uint64_t step =
		atomic_load_explicit(&cm_frame_steps[cm_step_slot(pc)], memory_order_relaxed);

	/* Of addresses that are too large there is none. */
	return __builtin_expect(step >> 30 == (pc >> CM_STEP_SLOT_BITS << 1 | is_exact), 1) ? step
											    : 0;
}

/* Look it up in the tables, and remember it. */
uint64_t cm_frame_step_cold(uint64_t pc, bool is_exact);

/*
 * pc is a return address; is_exact: the address of the next instruction of a frame that a signal
 * interrupted. Never CM_STEP_FREE.
 */
static inline __attribute__((always_inline)) uint64_t cm_frame_step(uint64_t pc, bool is_exact)
{
	uint64_t step = cm_frame_step_find(pc, is_exact);

	return step ? step : cm_frame_step_cold(pc, is_exact);
}

/* The whole row of a CM_STEP_WIDE. false: not there any more. */
bool cm_frame_row_at(uint64_t pc, bool is_exact, struct cm_frame_row *ret_row);

/* Forget everything: code has been unmapped or mapped. */
void cm_frame_steps_reset(void);

#endif
