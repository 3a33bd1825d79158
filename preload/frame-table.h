/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading .eh_frame, only as far as the canonical frame address (CFA), where the caller's frame
 * ends, as an offset from a register, and where the caller's rbp is: at each instruction of a
 * function. Format: DWARF 5, 6.4, and the LSB's description of .eh_frame and .eh_frame_hdr.
 *
 *	struct cm_frame_rows rows;
 *	if (!cm_frame_open(&rows, object->unwind_table, address))
 *		for ascending pc in rows.start .. rows.end: cm_frame_find(&rows, pc, &cfa)
 *
 * cm_frame_find_row() tells the whole row.
 *
 * hook-safe: no lock, no libc, reads only the tables of a loaded object.
 */
#ifndef CALLMARK_PRELOAD_FRAME_TABLE_H
#define CALLMARK_PRELOAD_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define CM_DWARF_RBP 6
#define CM_DWARF_RSP 7
#define CM_DWARF_RIP 16
/* As cfa.reg: the CFA is the word at rbp + offset (functions that realign their stack, gcc). */
#define CM_FRAME_AT_RBP UINT64_C(0x106)
#define CM_FRAME_UNKNOWN UINT64_C(0x107) /* another expression */
#define CM_FRAME_MAX_REMEMBERED 8

/* The CFA as register + offset. */
struct cm_frame_cfa {
	uint64_t reg;
	uint64_t offset;
};

enum cm_frame_rbp {
	CM_RBP_SAME = 0, /* not changed so far */
	CM_RBP_AT_CFA,	 /* saved at CFA + rbp_offset */
	CM_RBP_AT_RBP,	 /* saved at rbp + rbp_offset */
	CM_RBP_UNKNOWN,
};

enum cm_frame_return {
	CM_RETURN_AT_CFA = 0, /* the return address is the word below the CFA */
	CM_RETURN_NONE,	      /* nobody called it: a thread or the program begins here */
	CM_RETURN_UNKNOWN,
};

struct cm_frame_row {
	struct cm_frame_cfa cfa;
	int64_t rbp_offset;
	uint32_t rbp;		 /* enum cm_frame_rbp */
	uint32_t return_address; /* enum cm_frame_return */
};

/* One function's rows, and how far they have been read. */
struct cm_frame_rows {
	uint64_t start, end;	  /* the function's code */
	const uint8_t *at, *last; /* instructions not read yet */
	uint64_t location;	  /* where the row begins to be in force */
	struct cm_frame_row row;
	struct cm_frame_row initial; /* of the CIE: what `restore` restores */
	struct cm_frame_row remembered[CM_FRAME_MAX_REMEMBERED];
	int n_remembered;
	uint64_t code_align;
	int64_t data_align;
	bool failed;
};

/* Find the function around pc. -ENOENT: no table says; -ENOTSUP: one that is not understood. */
int cm_frame_open(struct cm_frame_rows *rows, const uint8_t *header, uint64_t pc);

/* The row in force at pc, which is not below that of the call before. false: not understood. */
bool cm_frame_find(struct cm_frame_rows *rows, uint64_t pc, struct cm_frame_cfa *ret_cfa);
bool cm_frame_find_row(struct cm_frame_rows *rows, uint64_t pc, struct cm_frame_row *ret_row);

#endif
