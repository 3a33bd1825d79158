/* SPDX-License-Identifier: BSD-3-Clause */
/* Moved instructions that run: the processor tells whether they do what the function did. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/code-entry.h"

#define PLACE UINT64_C(0x401000)

TestSuite(code_moved);

/* Run the copy; the old bytes are gone. */
static int run_moved(const struct cm_site_function *site, uint8_t *page, uint8_t *copy,
		     int argument)
{
	uint64_t base = (uint64_t)page - PLACE;
	int (*function)(int);

	memcpy(copy, site->moved, site->n_moved);
	for (unsigned int i = 0; i < site->n_fixups; i++) {
		const struct cm_site_fixup *fixup = &site->fixups[i];
		uint64_t value = base + fixup->target;

		if (fixup->kind == CM_SITE_FIXUP_REL32)
			value -= (uint64_t)(copy + fixup->at + fixup->tail);
		memcpy(copy + fixup->at, &value, fixup->kind == CM_SITE_FIXUP_REL32 ? 4 : 8);
	}
	memset(page + (site->place - PLACE), 0xcc, 5); /* nobody runs the old bytes */
	*(void **)&function = copy;
	return function(argument);
}

struct running {
	char name[40];
	uint8_t code[64];
	uint8_t n_bytes;
	int argument, result;
};

static struct running runnings[] = {
	/* mov 0x10(%rip),%eax; add %edi,%eax; ret; at 0x17: 1000 */
	{"reads data",
	 {0x8b, 0x05, 0x11, 0, 0, 0, 0x01, 0xf8, 0xc3, [0x17] = 0xe8, 3, 0, 0},
	 9,
	 5,
	 1005},
	/* addl $7,0x0f(%rip); mov 9(%rip),%eax; ret; at 0x16: 30 */
	{"adds to data",
	 {0x83, 0x05, 0x0f, 0, 0, 0, 7, 0x8b, 0x05, 9, 0, 0, 0, 0xc3, [0x16] = 30},
	 14,
	 0,
	 37},
	/* test %edi,%edi; je 7; mov $1,%eax; ret; 0xa: mov $2,%eax; ret */
	{"jumps, not taken",
	 {0x85, 0xff, 0x74, 6, 0xb8, 1, 0, 0, 0, 0xc3, 0xb8, 2, 0, 0, 0, 0xc3},
	 16,
	 1,
	 1},
	{"jumps, taken",
	 {0x85, 0xff, 0x74, 6, 0xb8, 1, 0, 0, 0, 0xc3, 0xb8, 2, 0, 0, 0, 0xc3},
	 16,
	 0,
	 2},
	/* call 0xa; inc %eax; ret; 0xa: lea 5(%rdi),%eax; ret */
	{"calls", {0xe8, 5, 0, 0, 0, 0xff, 0xc0, 0xc3, 0x90, 0x90, 0x8d, 0x47, 5, 0xc3}, 8, 10, 16},
	/* call *0x1a(%rip); inc %eax; ret; 0x10: lea 9(%rdi),%eax; ret; at 0x20: its address */
	{"calls through a slot",
	 {0xff, 0x15, 0x1a, 0, 0, 0, 0xff, 0xc0, 0xc3, [0x10] = 0x8d, 0x47, 9, 0xc3},
	 9,
	 10,
	 20},
	/* push %rbx; mov %edi,%ebx; lea 0(,%rbx,2),%eax; pop %rbx; ret */
	{"keeps the stack",
	 {0x53, 0x89, 0xfb, 0x8d, 0x04, 0x5d, 0, 0, 0, 0, 0x5b, 0xc3},
	 12,
	 21,
	 42},
};

ParameterizedTestParameters(code_moved, moved_code_runs)
{
	return cr_make_param_array(struct running, runnings,
				   sizeof(runnings) / sizeof(runnings[0]));
}

ParameterizedTest(struct running *running, code_moved, moved_code_runs)
{
	uint8_t *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cm_code_entry entry = {.bytes = running->code,
				      .address = PLACE,
				      .n_function = running->n_bytes,
				      .n_all = running->n_bytes,
				      .n_jump = 5};
	struct cm_site_function site = {0};
	uint64_t inner = (uint64_t)page + 0x10;

	cr_assert_neq(page, MAP_FAILED);
	memcpy(page, running->code, sizeof(running->code));
	if (strstr(running->name, "slot"))
		memcpy(page + 0x20, &inner, 8);
	cr_assert_eq(cm_code_entry_plan(&entry, &site), 0, "%s: %s", running->name, entry.reason);
	cr_expect_eq(run_moved(&site, page, page + 4096, running->argument), running->result, "%s",
		     running->name);
	munmap(page, 8192);
}
