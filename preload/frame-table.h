/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading .eh_frame, only as far as the canonical frame address (CFA): where the caller's frame
 * ends, as an offset from a register, at each instruction of a function. Format: DWARF 5, 6.4, and
 * the LSB's description of .eh_frame and .eh_frame_hdr.
 *
 *	struct cm_frame_rows rows;
 *	if (!cm_frame_open(&rows, object->unwind_table, address))
 *		for ascending pc in rows.start .. rows.end: cm_frame_find(&rows, pc, &cfa)
 *
 * hook-safe: no lock, no libc, reads only the tables of a loaded object.
 */
#ifndef CALLMARK_PRELOAD_FRAME_TABLE_H
#define CALLMARK_PRELOAD_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define CM_DWARF_RBP 6
#define CM_DWARF_RSP 7
#define CM_FRAME_MAX_REMEMBERED 8

/* The CFA as register + offset. */
struct cm_frame_cfa {
	uint64_t reg;
	uint64_t offset;
};

/* One function's rows, and how far they have been read. */
struct cm_frame_rows {
	uint64_t start, end;	  /* the function's code */
	const uint8_t *at, *last; /* instructions not read yet */
	uint64_t location;	  /* where the row in cfa begins to be in force */
	struct cm_frame_cfa cfa;
	struct cm_frame_cfa remembered[CM_FRAME_MAX_REMEMBERED];
	int n_remembered;
	uint64_t code_align;
	bool failed;
};

/* Find the function around pc. -ENOENT: no table says; -ENOTSUP: one that is not understood. */
int cm_frame_open(struct cm_frame_rows *rows, const uint8_t *header, uint64_t pc);

/* The row in force at pc, which is not below that of the call before. false: not understood. */
bool cm_frame_find(struct cm_frame_rows *rows, uint64_t pc, struct cm_frame_cfa *ret_cfa);

#endif
