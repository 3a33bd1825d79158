/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that no file holds. */
#include "sites-maker.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void make_sites_init(struct made_sites *made)
{
	struct cm_sites_object *object = &made->object;

	memset(made, 0, sizeof(*made));
	memset(made->code, 0xcc, sizeof(made->code));
	made->segments[0] = made->text =
		(struct cm_code_part){MADE_TEXT, MADE_TEXT + sizeof(made->code), made->code, false};
	made->segments[1] =
		(struct cm_code_part){MADE_DATA, MADE_DATA + sizeof(made->data), made->data, false};
	made->end = MADE_TEXT;
	object->path = "/made/libmade.so";
	object->name = "libmade.so";
	made->elf.soname = "libmade.so.1";
	object->elf = &made->elf;
	object->code = (struct cm_elf_code){made->segments, 2, &made->text, 1, made->text.begin,
					    made->text.end};
	object->symbols.symbols = made->symbols;
	object->frames.frames = made->frames;
}

void make_sites_fini(struct made_sites *made)
{
	cm_code_sweep_fini(&made->object.sweep);
	cm_code_map_fini(&made->object.map);
	cm_arena_fini(&made->object.arena);
	free(made->object.rows);
	cm_sites_rules_fini(&made->rules);
}

struct cm_elf_symbol *make_symbol(struct made_sites *made, const char *name, uint64_t address,
				  uint64_t size)
{
	struct cm_elf_symbol *symbol = &made->symbols[made->object.symbols.n_symbols++];

	cr_assert_leq(made->object.symbols.n_symbols, 32);
	*symbol = (struct cm_elf_symbol){address, size, name, "", STT_FUNC, false};
	return symbol;
}

uint64_t make_function_at_end(struct made_sites *made, const char *name, const char *hex)
{
	uint64_t address = made->end, n = 0;

	for (; sscanf(hex + 2 * n, "%2hhx", made->code + (address - MADE_TEXT) + n) == 1; n++)
		cr_assert_lt(address + n, made->text.end);
	make_symbol(made, name, address, n);
	made->end += n;
	return address;
}

uint64_t make_function(struct made_sites *made, const char *name, const char *hex)
{
	made->end = (made->end + 15) & ~UINT64_C(15);
	return make_function_at_end(made, name, hex);
}

void make_plan(struct made_sites *made, const char *rules)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_sites_rules_load(&made->rules, NULL, rules, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_sites_match(&made->object, &made->rules.rules, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_sites_plan(&made->object, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_sites_twins(&made->object), 0);
}

const struct cm_sites_row *made_row(const struct made_sites *made, const char *symbol)
{
	for (size_t i = 0; i < made->object.n_rows; i++)
		if (!strcmp(made->object.rows[i].symbol, symbol))
			return &made->object.rows[i];
	return NULL;
}
