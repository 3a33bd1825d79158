/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "sites-maker.h"

static struct made_sites made;

static void init(void)
{
	make_sites_init(&made);
}

static void fini(void)
{
	make_sites_fini(&made);
}

TestSuite(sites_plan, .init = init, .fini = fini);

static void expect(const char *symbol, enum cm_site_how how, const char *reason)
{
	const struct cm_sites_row *row = made_row(&made, symbol);

	cr_assert_not_null(row, "%s", symbol);
	cr_expect_eq(row->site.how, how, "%s: %u (%s)", symbol, row->site.how, row->reason);
	cr_expect_eq(strncmp(row->reason, reason, strlen(reason)), 0, "%s: \"%s\"", symbol,
		     row->reason);
	cr_expect_eq(!*row->reason, !*reason, "%s: \"%s\"", symbol, row->reason);
}

Test(sites_plan, a_loop_within_the_moved_bytes_is_seen)
{
	/* xor %eax,%eax; 2: inc %eax; cmp %edi,%eax; jne 2; ret */
	make_function(&made, "loop", "31c0ffc039f875fac3");
	/* the loop is behind: mov $0,%eax; 5: inc %eax; cmp; jne 5; ret */
	make_function(&made, "behind", "b800000000ffc039f875fac3");
	make_plan(&made, "* internal=yes");
	expect("loop", CM_SITE_HOW_REFUSED, "branch: from 0x401006 into");
	expect("behind", CM_SITE_HOW_JUMP, "");
}

Test(sites_plan, a_jump_back_to_the_entry_is_no_call)
{
	/* sub $1,%edi; cmp $4,%edi; ja 0; ret */
	make_function(&made, "again", "83ef0183ff0477f8c3");
	/* the same behind endbr64: the jump goes there */
	make_function(&made, "again_endbr", "f30f1efa83ef0183ff0477f8c3");
	/* call 0: recursion */
	make_function(&made, "recursive", "83ef0183ff04e8f5ffffffc3");
	make_plan(&made, "* internal=yes force=trap");
	expect("again", CM_SITE_HOW_REFUSED, "branch: the function jumps back");
	expect("again_endbr", CM_SITE_HOW_REFUSED, "branch: the function jumps back");
	expect("recursive", CM_SITE_HOW_JUMP, "");
}

Test(sites_plan, tail_calls_of_others_are_calls_but_not_into_the_middle)
{
	make_function(&made, "target", "5589e583ec10c9c3");
	/* jmp target */
	make_function(&made, "tail", "b801000000e9e6ffffff");
	make_function(&made, "middle", "5589e583ec10c9c3");
	/* jmp middle + 3 */
	make_function(&made, "strange", "b801000000e9e9ffffff");
	make_plan(&made, "* internal=yes");
	expect("target", CM_SITE_HOW_JUMP, "");
	expect("tail", CM_SITE_HOW_JUMP, "");
	expect("middle", CM_SITE_HOW_REFUSED, "branch: from 0x401035 into");
}

Test(sites_plan, the_cold_part_belongs_to_its_function)
{
	make_function(&made, "solve", "b801000000c3");
	make_function(&made, "other", "b801000000c3");
	/* jmp solve; jmp other */
	make_function(&made, "solve.cold", "e9dbffffffe9e6ffffff");
	make_plan(&made, "* internal=yes");
	expect("solve", CM_SITE_HOW_REFUSED, "branch: the function jumps back");
	expect("other", CM_SITE_HOW_JUMP, "");
	cr_expect_null(made_row(&made, "solve.cold"));
}

/* A function that begins with lea table(%rip),%rdx behind a switch. */
static void make_switch(const char *name, const char *prologue, uint64_t table)
{
	char hex[128];
	uint64_t at = ((made.end + 15) & ~UINT64_C(15)) + strlen(prologue) / 2;
	uint32_t distance = (uint32_t)(table - (at + 7));

	/* lea; movslq (%rdx,%rdi,4),%rax; add %rdx,%rax; jmp *%rax; ret */
	snprintf(hex, sizeof(hex), "%s488d15%08x486304ba4801d0ffe0c3", prologue,
		 __builtin_bswap32(distance));
	make_function(&made, name, hex);
}

static void put_entries(uint64_t table, const uint64_t *targets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int32_t entry = (int32_t)(targets[i] - table);

		memcpy(made.data + (table - MADE_DATA) + 4 * i, &entry, 4);
	}
}

Test(sites_plan, jump_tables_are_followed)
{
	static const uint64_t into[] = {MADE_TEXT + 18, MADE_TEXT + 18, MADE_TEXT + 3},
			      behind[] = {MADE_TEXT + 32 + 18, MADE_TEXT + 32 + 17};

	/* test %edi,%edi; nop; nop */
	make_switch("into", "85ff9090", MADE_DATA);
	make_switch("behind", "85ff9090", MADE_DATA + 12);
	put_entries(MADE_DATA, into, 3);
	put_entries(MADE_DATA + 12, behind, 2);
	make_plan(&made, "* internal=yes");
	expect("into", CM_SITE_HOW_REFUSED, "table: used at 0x401004");
	expect("behind", CM_SITE_HOW_JUMP, "");
}

Test(sites_plan, a_table_that_was_not_found_is_feared_before_a_frame_is_made)
{
	make_switch("unknown", "85ff9090", MADE_DATA);
	make_switch("framed", "554889e5", MADE_DATA);
	make_plan(&made, "* internal=yes");
	expect("unknown", CM_SITE_HOW_REFUSED, "table: an indirect jump");
	expect("framed", CM_SITE_HOW_JUMP, "");
}

Test(sites_plan, a_tail_call_through_a_pointer_is_no_table)
{
	/* mov (%rdi),%rax; nop; jmp *0x10(%rax) */
	make_function(&made, "virtual", "488b079090ff6010");
	/* mov %rsi,%rax; mov %rdx,%rdi; jmp *%rax */
	make_function(&made, "callback", "4889f04889d7ffe0");
	/* notrack jmp *%rax is a switch, whatever came before */
	make_function(&made, "switch", "4889f04889d73effe0");
	make_plan(&made, "* internal=yes");
	expect("virtual", CM_SITE_HOW_JUMP, "");
	expect("callback", CM_SITE_HOW_JUMP, "");
	expect("switch", CM_SITE_HOW_REFUSED, "table: an indirect jump");
}

Test(sites_plan, addresses_of_labels_in_data_count)
{
	uint64_t labels = make_function(&made, "labels", "4889f04889d73effe031c0c3");
	struct cm_code_map map;
	struct cm_code_sweep sweep = {0};

	cr_assert_eq(cm_code_map_init(&map, MADE_TEXT, MADE_TEXT + 1024), 0);
	cm_code_map_set(map.starts, &map, labels);
	for (uint64_t i = 0; i < 6; i++)
		cm_code_map_set(map.watched, &map, labels + i);
	cr_assert_eq(cm_code_sweep_add_word(&sweep, &map, MADE_DATA, labels), 0);
	cr_expect_eq(sweep.n_words, 0); /* the function's own address */
	cr_assert_eq(cm_code_sweep(&sweep, &made.object.code, &map), 0);
	cm_code_sweep_sort(&sweep);
	cr_expect(cm_code_sweep_is_unknown(&sweep, labels, labels + 12));
	cr_assert_eq(cm_code_sweep_add_word(&sweep, &map, MADE_DATA, labels + 9), 0);
	cm_code_sweep_sort(&sweep);
	cr_expect_not(cm_code_sweep_is_unknown(&sweep, labels, labels + 12));
	cr_expect_eq(sweep.n_branches, 0);
	cr_assert_eq(cm_code_sweep_add_word(&sweep, &map, MADE_DATA, labels + 3), 0);
	cr_assert_eq(sweep.n_branches, 1);
	cr_expect_eq(sweep.branches[0].to, labels + 3);
	cm_code_sweep_fini(&sweep);
	cm_code_map_fini(&map);
}

Test(sites_plan, nothing_else_may_begin_in_the_moved_bytes)
{
	uint64_t address = make_function(&made, "two", "31c031d2c3");

	make_symbol(&made, "label", address + 2, 0)->type = STT_NOTYPE;
	make_plan(&made, "* internal=yes");
	expect("two", CM_SITE_HOW_REFUSED, "branch: something else begins 2 bytes");
	cr_expect_null(made_row(&made, "label"));
}

Test(sites_plan, short_functions_use_the_padding_behind_them)
{
	make_function(&made, "padded", "31c0c3");
	make_function_at_end(&made, "packed", "31c0c3"); /* takes 3 of its bytes of padding */
	make_function(&made, "last", "b801000000c3");
	make_plan(&made, "* internal=yes");
	expect("padded", CM_SITE_HOW_REFUSED, "short: 3 bytes");
	expect("packed", CM_SITE_HOW_JUMP, "");
	cr_expect_eq(made_row(&made, "packed")->site.n_expected, 5);
	cr_expect_eq(made_row(&made, "packed")->site.n_moved, 3);
}

Test(sites_plan, force_uses_padding_nearby_once_and_then_traps)
{
	make_function(&made, "one", "31c0c3");
	make_function_at_end(&made, "two", "31d2c3");
	make_function_at_end(&made, "three", "31c9c3");
	make_function_at_end(&made, "four", "c3");
	make_function_at_end(&made, "last", "b801000000c3");
	made.end += 10; /* room for two */
	make_function_at_end(&made, "end", "b801000000c3");
	make_symbol(&made, "label", made.end, 0)->type = STT_NOTYPE; /* none behind it */
	make_plan(&made, "* internal=yes force=trap");
	expect("one", CM_SITE_HOW_SHORT, "");
	expect("two", CM_SITE_HOW_SHORT, "");
	expect("three", CM_SITE_HOW_TRAP, "");
	expect("four", CM_SITE_HOW_TRAP, "");
	expect("last", CM_SITE_HOW_JUMP, "");
	cr_expect_eq(made_row(&made, "one")->site.pad - made_row(&made, "two")->site.pad, 5);
	cr_expect_eq(made_row(&made, "one")->site.n_pad, 5);
	cr_expect_eq(memcmp(made_row(&made, "one")->site.expected_pad, "\xcc\xcc\xcc\xcc\xcc", 5),
		     0);
	cr_expect_eq(made_row(&made, "four")->site.n_expected, 1);
}

Test(sites_plan, room_that_the_compiler_left_needs_no_force)
{
	static uint64_t pads[1];

	make_function(&made, "before", "b801000000c3");
	made.end = MADE_TEXT + 16;
	make_function(&made, "room", "31c0c3");
	memset(made.code + 11, 0x90, 5);
	pads[0] = MADE_TEXT + 11;
	make_function_at_end(&made, "behind", "b801000000c3");
	made.object.pads = pads;
	made.object.n_pads = 1;
	make_plan(&made, "* internal=yes");
	expect("room", CM_SITE_HOW_SHORT, "");
	cr_expect_eq(made_row(&made, "room")->site.pad, MADE_TEXT + 11);
}
