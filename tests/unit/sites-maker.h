/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects of machine code that a test writes down, as callmark-sites would have read them.
 *
 *	make_sites_init(&made);
 *	make_function(&made, "solve", "5548...");
 *	make_plan(&made, "* internal=yes");
 *	row = made_row(&made, "solve");
 *	make_sites_fini(&made);
 *
 * Failures are failures of the test.
 */
#ifndef CALLMARK_TESTS_SITES_MAKER_H
#define CALLMARK_TESTS_SITES_MAKER_H

#include "collector/elf-image.h"
#include "collector/sites.h"

#define MADE_TEXT UINT64_C(0x401000)
#define MADE_DATA UINT64_C(0x500000)

struct made_sites {
	struct cm_sites_object object;
	struct cm_elf elf;
	struct cm_code_part segments[2], text;
	struct cm_elf_symbol symbols[32];
	struct cm_elf_frame frames[8];
	uint8_t code[1024]; /* int3 where nothing was put */
	uint8_t data[256];
	uint64_t end; /* of the code so far */
	struct cm_sites_rules rules;
};

void make_sites_init(struct made_sites *made);
void make_sites_fini(struct made_sites *made);

/* A function of these bytes at the next multiple of 16; its address. */
uint64_t make_function(struct made_sites *made, const char *name, const char *hex);

/* The same right behind what is there. */
uint64_t make_function_at_end(struct made_sites *made, const char *name, const char *hex);

/* One more symbol. */
struct cm_elf_symbol *make_symbol(struct made_sites *made, const char *name, uint64_t address,
				  uint64_t size);

/* Match, plan, check. */
void make_plan(struct made_sites *made, const char *rules);

/* The row with this symbol, or NULL. */
const struct cm_sites_row *made_row(const struct made_sites *made, const char *symbol);

#endif
