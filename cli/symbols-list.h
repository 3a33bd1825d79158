/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For each slot of a binary: can calls through it be intercepted, by what means, under which rule;
 * and if not, why.
 *
 *	rc = cm_symbols_list(&list, &closure, &set, with_deps, &diag);
 *	cm_symbols_fini(&list);
 *
 * Threads: one at a time. Errors: those of cm_elf_imports; -ENOMEM.
 */
#ifndef CALLMARK_CLI_SYMBOLS_LIST_H
#define CALLMARK_CLI_SYMBOLS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/rule-set.h"
#include "cli/symbols-closure.h"
#include "collector/elf-imports.h"

struct cm_symbol_entries;

struct cm_symbol_row {
	const struct cm_elf_import *import;
	char *demangled;	    /* NULL: not a mangled name */
	const char *library;	    /* base name of the defining object, or NULL: none found */
	const struct cm_rule *rule; /* NULL where none */
	char *region;		    /* NULL where no rule */
	const char *reason;	    /* static; NULL: calls are or could be intercepted */
};

struct cm_symbol_object {
	const struct cm_closure_item *item;
	struct cm_elf_import *imports;
	struct cm_symbol_row *rows; /* sorted by symbol */
	size_t n_rows;
	size_t n_possible; /* rows that could be intercepted, with or without a rule */
	size_t n_matched;  /* rows with a rule */
	struct cm_symbol_entries *entries; /* symbols-entries.h; NULL where nobody asked for them */
};

struct cm_symbols {
	struct cm_symbol_object *objects;
	size_t n_objects;
	bool *is_matched; /* by rule index; NULL without rules */
};

/*
 * set may be NULL: no rules asked about. Without with_deps only the binary itself is looked at as a
 * caller. Everything borrows from closure and set.
 */
int cm_symbols_list(struct cm_symbols *list, const struct cm_closure *closure,
		    const struct cm_rule_set *set, bool with_deps, struct cm_diag *diag);

void cm_symbols_fini(struct cm_symbols *list);

#endif
