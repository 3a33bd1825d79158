/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/code-entry.h"

#define PLACE UINT64_C(0x401000)

TestSuite(code_entry);

/* Bytes of a function, and of what is to become of them. */
struct moving {
	char name[40];
	char code[40]; /* hexadecimal digits */
	uint8_t n_function, n_all, n_jump;
	int rc;
	char reason[48]; /* its beginning, or "" */
	uint8_t n_expected;
	bool is_single, has_prologue;
	uint8_t n_moved;
	char moved[56];	 /* with zeros where a fixup is, which may be left out at the end */
	char fixups[32]; /* kind, at:tail:target behind PLACE */
};

static struct moving movings[] = {
	{"push, mov, sub", "554889e54883ec10c3", 9, 9, 5, 0, "", 8, false, true, 13,
	 "554889e54883ec10e9", "r9:4:8"},
	{"one long instruction", "b801020304c3", 6, 6, 5, 0, "", 5, true, false, 10, "b801020304e9",
	 "r6:4:5"},
	/* lea 0x10(%rip),%rax */
	{"relative to rip", "488d0510000000c3", 8, 8, 5, 0, "", 7, true, false, 12,
	 "488d0500000000e9", "r3:4:23 r8:4:7"},
	/* cmpl $0x12345678,-0x20(%rip) */
	{"an immediate behind the distance", "813de0ffffff78563412c3", 11, 11, 5, 0, "", 10, true,
	 false, 15, "813d0000000078563412e9", "r2:8:-22 r11:4:10"},
	/* vmovsd 0x100(%rip),%xmm1 */
	{"relative to rip, VEX", "c5fb100d00010000c3", 9, 9, 5, 0, "", 8, true, false, 13,
	 "c5fb100d00000000e9", "r4:4:264 r9:4:8"},
	/* vpternlogd $0xff,0x40(%rip),%zmm0,%zmm0 */
	{"relative to rip, EVEX, immediate", "62f37d48250540000000ffc3", 12, 12, 5, 0, "", 11, true,
	 false, 16, "62f37d48250500000000ffe9", "r6:5:75 r12:4:11"},
	/* test %edi,%edi; je +0x20; nop... */
	{"short conditional jump", "85ff742031c0c3", 7, 7, 5, 0, "", 6, false, false, 15,
	 "85ff0f840000000031c0e9", "r4:4:36 r11:4:6"},
	{"long conditional jump", "0f8f00ffffffc3", 7, 7, 5, 0, "", 6, true, false, 11,
	 "0f8f00000000e9", "r2:4:-250 r7:4:6"},
	{"jmp ends it", "e900010000", 5, 5, 5, 0, "", 5, true, false, 5, "e9", "r1:4:261"},
	{"short jmp, padding", "eb10669090", 2, 5, 5, 0, "", 5, true, false, 5, "e9", "r1:4:18"},
	/* jmp *0x200(%rip) */
	{"jmp through a slot", "ff2500020000", 6, 6, 5, 0, "", 6, true, false, 6, "ff25",
	 "r2:4:518"},
	{"ret, padding", "31c0c3cccccc", 3, 6, 5, 0, "", 5, false, false, 3, "31c0c3", ""},
	{"ret, too little padding", "31c0c3cc", 3, 4, 5, -ENOSPC, "short: 3 bytes", 0, false, false,
	 0, "", ""},
	/* sub $8,%rsp; call +0x30: push *5(%rip); jmp; the return address */
	{"call, last", "4883ec08e830000000c3", 10, 10, 5, 0, "", 9, false, true, 23,
	 "4883ec08ff3505000000e9", "r11:4:57 a15:8:9"},
	/* push %rbx; call *0x40(%rip) */
	{"call through a slot, last", "53ff1540000000c3", 8, 8, 5, 0, "", 7, false, true, 21,
	 "53ff3506000000ff25", "r9:4:71 a13:8:7"},
	/* push %rbx; mov %rdi,%rbx; call *%r12 */
	{"call of a register, last", "534889fb41ffd4c3", 8, 8, 5, 0, "", 7, false, true, 21,
	 "534889fbff350300000041ffe4", "a13:8:7"},
	{"call, not last", "50ffd75831c0c3", 7, 7, 5, -EINVAL, "instruction: a call", 0, false,
	 false, 0, "", ""},
	/* mov %rdi,%rax; call *8(%rsp) */
	{"call through the stack", "4889f8ff542408c3", 8, 8, 5, -EINVAL,
	 "instruction: a call through the stack", 0, false, false, 0, "", ""},
	{"loop", "31c0e21031c0c3", 7, 7, 5, -EINVAL, "instruction: loop", 0, false, false, 0, "",
	 ""},
	{"jrcxz", "e31031c090c3", 6, 6, 5, -EINVAL, "instruction: jrcxz", 0, false, false, 0, "",
	 ""},
	/* lea 0x10(%eip),%eax */
	{"relative to eip", "678d0510000000c3", 8, 8, 5, -EINVAL,
	 "instruction: an address relative to eip", 0, false, false, 0, "", ""},
	{"no instruction", "0606060606c3", 6, 6, 5, -EINVAL, "instruction: none", 0, false, false,
	 0, "", ""},
	{"the end within an instruction", "31c0b801020304c3", 5, 8, 5, -EINVAL, "size:", 0, false,
	 false, 0, "", ""},
	{"one nop of five bytes", "0f1f440000c3", 6, 6, 5, 0, "", 5, true, false, 5, "e9",
	 "r1:4:5"},
	{"five nops of one byte", "9090909090c3", 6, 6, 5, 0, "", 5, false, false, 5, "e9",
	 "r1:4:5"},
	{"nops, then more", "6690559031c0c3", 7, 7, 5, 0, "", 6, false, true, 9, "559031c0e9",
	 "r5:4:6"},
	{"ud2 ends it", "0f0bcccccc", 2, 5, 5, 0, "", 5, true, false, 2, "0f0b", ""},
	{"two bytes", "31c0c3", 3, 3, 2, 0, "", 2, true, false, 7, "31c0e9", "r3:4:2"},
	{"one byte", "c3", 1, 1, 1, 0, "", 1, true, false, 1, "c3", ""},
};

static void read_hex(uint8_t *bytes, const char *digits)
{
	for (; sscanf(digits, "%2hhx", bytes) == 1; digits += 2)
		bytes++;
}

static void format_fixups(char *text, const struct cm_site_function *site)
{
	*text = '\0';
	for (unsigned int i = 0; i < site->n_fixups; i++) {
		const struct cm_site_fixup *fixup = &site->fixups[i];

		text += sprintf(text, "%s%c%u:%u:%ld", i ? " " : "",
				fixup->kind == CM_SITE_FIXUP_ABS64 ? 'a' : 'r', fixup->at,
				fixup->tail, (long)(fixup->target - PLACE));
	}
}

ParameterizedTestParameters(code_entry, moves)
{
	return cr_make_param_array(struct moving, movings, sizeof(movings) / sizeof(movings[0]));
}

ParameterizedTest(struct moving *moving, code_entry, moves)
{
	char fixups[128];
	uint8_t code[20] = {0}, moved[28] = {0};
	struct cm_code_entry entry = {.bytes = code,
				      .address = PLACE,
				      .n_function = moving->n_function,
				      .n_all = moving->n_all,
				      .n_jump = moving->n_jump};
	struct cm_site_function site = {0};

	read_hex(code, moving->code);
	read_hex(moved, moving->moved);
	cr_assert_eq(cm_code_entry_plan(&entry, &site), moving->rc, "%s: \"%s\"", moving->name,
		     entry.reason);
	cr_expect_eq(strncmp(entry.reason, moving->reason, strlen(moving->reason)), 0, "%s: \"%s\"",
		     moving->name, entry.reason);
	if (moving->rc)
		return;
	cr_expect_str_eq(entry.reason, "", "%s", moving->name);
	cr_expect_eq(site.offset, PLACE);
	cr_expect_eq(site.place, PLACE);
	cr_expect_eq(site.n_expected, moving->n_expected, "%s: %u", moving->name, site.n_expected);
	cr_expect_eq(memcmp(site.expected, code, site.n_expected), 0);
	cr_expect_eq(site.is_single, moving->is_single, "%s", moving->name);
	cr_expect_eq(entry.has_prologue, moving->has_prologue, "%s", moving->name);
	cr_assert_eq(site.n_moved, moving->n_moved, "%s: %u", moving->name, site.n_moved);
	for (unsigned int i = 0; i < site.n_fixups; i++) /* whatever is there is replaced */
		memset(site.moved + site.fixups[i].at, 0,
		       site.fixups[i].kind == CM_SITE_FIXUP_REL32 ? 4 : 8);
	cr_expect_eq(memcmp(site.moved, moved, site.n_moved), 0, "%s: other bytes", moving->name);
	format_fixups(fixups, &site);
	cr_expect_str_eq(fixups, moving->fixups, "%s: %s", moving->name, fixups);
}

Test(code_entry, leaves_endbr64_where_it_is)
{
	static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x90, 0xc3};
	struct cm_code_entry entry = {.bytes = code,
				      .address = PLACE,
				      .n_function = sizeof(code),
				      .n_all = sizeof(code),
				      .n_jump = 5};
	struct cm_site_function site = {0};

	cr_assert_eq(cm_code_entry_plan(&entry, &site), 0, "%s", entry.reason);
	cr_expect_eq(site.offset, PLACE);
	cr_expect_eq(site.place, PLACE + 4);
	cr_expect_eq(site.n_expected, 5);
	cr_expect_eq(memcmp(site.expected, code + 4, 5), 0);
	cr_expect_eq(site.fixups[0].target, PLACE + 9);
}

Test(code_entry, tells_how_short_a_function_behind_endbr64_is)
{
	static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0xc3};
	struct cm_code_entry entry = {.bytes = code,
				      .address = PLACE,
				      .n_function = sizeof(code),
				      .n_all = sizeof(code),
				      .n_jump = 5};
	struct cm_site_function site = {0};

	cr_expect_eq(cm_code_entry_plan(&entry, &site), -ENOSPC);
	cr_expect_str_eq(entry.reason, "short: 2 bytes");
}

Test(code_entry, padding_is_nops_and_int3)
{
	static const uint8_t code[] = {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0,	   0, 0,    0,	  0,   0x90,
				       0x66, 0x90, 0xcc, 0x0f, 0x1f, 0x40, 0, 0x31, 0xc0, 0x90};

	cr_expect_eq(cm_code_entry_padding(code, sizeof(code)), 18);
	cr_expect_eq(cm_code_entry_padding(code, 14), 14);
	cr_expect_eq(cm_code_entry_padding(code, 9), 0); /* cut */
	cr_expect_eq(cm_code_entry_padding(code + 18, 3), 0);
}

Test(code_entry, finds_calls)
{
	/* nop; call 0x401100; jmp 0x401200; ret */
	static const uint8_t code[] = {0x90, 0xe8, 0xfa, 0, 0, 0, 0xe9, 0xf5, 1, 0, 0, 0xc3};
	static const uint64_t targets[] = {0x401200, 0x401100, 0x401300};

	cr_expect_eq(cm_code_entry_calls(code, sizeof(code), PLACE, targets, 3), 1);
	cr_expect_eq(cm_code_entry_calls(code, sizeof(code), PLACE, targets, 1), 0);
	cr_expect_eq(cm_code_entry_calls(code, sizeof(code), PLACE, targets + 2, 1), -1);
	cr_expect_eq(cm_code_entry_calls(code, 6, PLACE, targets, 1), -1);
}
