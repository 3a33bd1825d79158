/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of unwind tables: where the caller's frame and its rbp are, at each instruction. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/frame-table.h"

#define CODE_BYTES 64

/* One object: .eh_frame_hdr with one row, a CIE, an FDE, and the "code" that they are about. */
static struct {
	uint8_t code[CODE_BYTES];
	struct {
		uint8_t version, encodings[3];
		int32_t eh_frame;
		uint32_t n_rows;
		int32_t start, fde;
	} header;
	uint8_t cie[32];
	uint8_t fde[256];
} object;

static void put32(uint8_t *at, int64_t value)
{
	int32_t low = (int32_t)value;

	memcpy(at, &low, sizeof(low));
}

/* Nothing but what the instructions of the FDE say is different between the tests. */
static void make(const uint8_t *instructions, size_t n)
{
	static const uint8_t cie[] = {0,    0,	  0,	0,    0,    0,	  0,	0,
				      1,    'z',  'R',	0,    1,    0x78, 16,	1,
				      0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01, 0x00, 0x00};

	memset(&object, 0, sizeof(object));
	object.header.version = 1;
	memcpy(object.header.encodings, (uint8_t[]){0x1b, 0x03, 0x3b}, 3);
	object.header.n_rows = 1;
	object.header.start = (int32_t)(object.code - (uint8_t *)&object.header);
	object.header.fde = (int32_t)(object.fde - (uint8_t *)&object.header);
	memcpy(object.cie, cie, sizeof(cie));
	put32(object.cie, sizeof(cie) - 4);
	put32(object.fde, (int64_t)(13 + n));
	put32(object.fde + 4, object.fde + 4 - object.cie);
	put32(object.fde + 8, object.code - (object.fde + 8));
	put32(object.fde + 12, CODE_BYTES);
	object.fde[16] = 0;
	memcpy(object.fde + 17, instructions, n);
}

static struct cm_frame_row row_at(uint64_t offset)
{
	uint64_t pc = (uint64_t)object.code + offset;
	struct cm_frame_rows rows;
	struct cm_frame_row row = {0};

	cr_assert_eq(cm_frame_open(&rows, (const uint8_t *)&object.header, pc), 0);
	cr_expect_eq(rows.start, (uint64_t)object.code);
	cr_assert(cm_frame_find_row(&rows, pc, &row));
	return row;
}

static void expect_row(uint64_t offset, uint64_t reg, int64_t cfa_offset, uint32_t rule,
		       int64_t rbp_offset)
{
	struct cm_frame_row row = row_at(offset);

	cr_expect_eq(row.cfa.reg, reg, "%lu: register %lu", offset, row.cfa.reg);
	cr_expect_eq((int64_t)row.cfa.offset, cfa_offset, "%lu: CFA", offset);
	cr_expect_eq(row.rbp, rule, "%lu: rule of rbp: %u", offset, row.rbp);
	cr_expect_eq(row.rbp_offset, rbp_offset, "%lu: offset of rbp", offset);
}

Test(frame_table, follows_rbp_through_a_function_with_a_frame_pointer)
{
	static const uint8_t code[] = {
		0x41, 0x0e, 0x10, 0x86, 0x02,	    /* push: CFA rsp + 16, rbp at CFA - 16 */
		0x43, 0x0d, 0x06,		    /* mov: CFA rbp + 16 */
		0x44, 0x0a, 0xc6, 0x0c, 0x07, 0x08, /* leave: remembered; rbp same, rsp + 8 */
		0x41, 0x0b,			    /* behind ret: as before */
	};

	make(code, sizeof(code));
	expect_row(0, CM_DWARF_RSP, 8, CM_RBP_SAME, 0);
	expect_row(1, CM_DWARF_RSP, 16, CM_RBP_AT_CFA, -16);
	expect_row(4, CM_DWARF_RBP, 16, CM_RBP_AT_CFA, -16);
	expect_row(8, CM_DWARF_RSP, 8, CM_RBP_SAME, 0);
	expect_row(9, CM_DWARF_RBP, 16, CM_RBP_AT_CFA, -16);
	expect_row(63, CM_DWARF_RBP, 16, CM_RBP_AT_CFA, -16);
}

/* As gcc writes it for `and $-64, %rsp` with r10 as pointer to the arguments. */
Test(frame_table, understands_a_frame_that_is_realigned)
{
	static const uint8_t code[] = {
		0x45, 0x0c, 0x0a, 0x00,		    /* CFA r10 */
		0x45, 0x10, 0x06, 0x02, 0x76, 0x00, /* rbp at rbp */
		0x45, 0x0f, 0x03, 0x76, 0x78, 0x06, /* CFA at rbp - 8 */
		0x10, 0x03, 0x02, 0x76, 0x70,	    /* rbx at rbp - 16 */
		0x45, 0x0c, 0x0a, 0x00, 0xc6, 0x44, 0x0c, 0x07, 0x08,
	};

	make(code, sizeof(code));
	expect_row(5, 10, 0, CM_RBP_SAME, 0);
	expect_row(10, 10, 0, CM_RBP_AT_RBP, 0);
	expect_row(15, CM_FRAME_AT_RBP, -8, CM_RBP_AT_RBP, 0);
	expect_row(20, 10, 0, CM_RBP_SAME, 0);
	expect_row(24, CM_DWARF_RSP, 8, CM_RBP_SAME, 0);
}

Test(frame_table, tells_where_nobody_has_called)
{
	static const uint8_t undefined[] = {0x07, 0x10}, elsewhere[] = {0x90, 0x02},
			     again[] = {0x07, 0x10, 0x41, 0xd0};

	make(undefined, sizeof(undefined));
	cr_expect_eq(row_at(0).return_address, CM_RETURN_NONE);
	make(elsewhere, sizeof(elsewhere));
	cr_expect_eq(row_at(0).return_address, CM_RETURN_UNKNOWN);
	make(again, sizeof(again));
	cr_expect_eq(row_at(0).return_address, CM_RETURN_NONE);
	cr_expect_eq(row_at(1).return_address, CM_RETURN_AT_CFA);
}

Test(frame_table, knows_rules_for_rbp_that_are_of_no_use)
{
	static const uint8_t in_register[] = {0x09, 0x06, 0x03}, value[] = {0x14, 0x06, 0x02},
			     expression[] = {0x16, 0x06, 0x02, 0x77, 0x08},
			     undefined[] = {0x07, 0x06};
	static const struct {
		const uint8_t *code;
		size_t n;
	} cases[] = {{in_register, sizeof(in_register)},
		     {value, sizeof(value)},
		     {expression, sizeof(expression)},
		     {undefined, sizeof(undefined)}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(cases[i].code, cases[i].n);
		cr_expect_eq(row_at(0).rbp, CM_RBP_UNKNOWN, "case %zu", i);
		cr_expect_eq(row_at(0).cfa.reg, CM_DWARF_RSP, "case %zu", i);
	}
}

Test(frame_table, skips_what_is_said_of_other_registers)
{
	static const uint8_t code[] = {0x83, 0x02, 0x05, 0x0c, 0x03, 0x11, 0x0c, 0x7d,
				       0x08, 0x0d, 0x16, 0x0e, 0x01, 0x50, 0x2e, 0x10,
				       0x10, 0x0f, 0x02, 0x77, 0x08, 0xc3, 0x86, 0x03};

	make(code, sizeof(code));
	expect_row(0, CM_DWARF_RSP, 8, CM_RBP_AT_CFA, -24);
}

Test(frame_table, knows_no_cfa_after_an_expression_that_is_not_understood)
{
	static const uint8_t code[] = {
		0x41, 0x0f, 0x03, 0x77, 0x08, 0x06,		/* the word at rsp + 8 */
		0x41, 0x0f, 0x02, 0x76, 0x10,			/* rbp + 16, said in this way */
		0x41, 0x0f, 0x05, 0x77, 0x28, 0x06, 0x23, 0x08, /* as in libcrypto's assembly */
		0x41, 0x0c, 0x07, 0x18,				/* rsp + 24 */
	};

	make(code, sizeof(code));
	expect_row(0, CM_DWARF_RSP, 8, CM_RBP_SAME, 0);
	for (uint64_t i = 1; i <= 3; i++)
		cr_expect_eq(row_at(i).cfa.reg, CM_FRAME_UNKNOWN, "%lu", i);
	expect_row(4, CM_DWARF_RSP, 24, CM_RBP_SAME, 0);
}

Test(frame_table, refuses_an_expression_that_is_cut)
{
	static const uint8_t cut[] = {0x0f, 0x20, 0x76, 0x78, 0x06};
	uint64_t pc = (uint64_t)object.code;
	struct cm_frame_rows rows;
	struct cm_frame_cfa cfa;

	make(cut, sizeof(cut));
	cr_assert_eq(cm_frame_open(&rows, (const uint8_t *)&object.header, pc), 0);
	cr_expect_not(cm_frame_find(&rows, pc, &cfa));
}

Test(frame_table, has_no_row_outside_the_function)
{
	static const uint8_t none[] = {0};
	struct cm_frame_rows rows;

	make(none, sizeof(none));
	cr_expect_eq(cm_frame_open(&rows, (const uint8_t *)&object.header,
				   (uint64_t)object.code + CODE_BYTES),
		     -ENOENT);
	cr_expect_eq(
		cm_frame_open(&rows, (const uint8_t *)&object.header, (uint64_t)object.code - 1),
		-ENOENT);
}
