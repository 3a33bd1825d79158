/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules with internal=yes find in a binary: its functions, how the entry of each one can be
 * intercepted, and if not, why.
 *
 *	rc = cm_symbols_add_entries(&list, &request, &set, &diag);
 *	object->entries->rows[i].function->how, ...
 *	cm_symbols_fini(&list);
 *
 * callmark-sites is asked each time, so that what is shown is never older than the binary.
 * Threads: one, as command.h. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_CLI_SYMBOLS_ENTRIES_H
#define CALLMARK_CLI_SYMBOLS_ENTRIES_H

#include <stddef.h>

#include "cli/symbols-list.h"
#include "preload/site-file.h"

struct cm_symbol_entry {
	const struct cm_site_function *function;
	const char *symbol; /* as in the symbol table; these are borrowed from the file */
	const char *base_name;
	const char *source; /* "" where it is not known */
	const char *reason; /* "" where it can be intercepted */
	char *name; /* demangled, with "[clone .cold]" as binutils have it; else the symbol */
	char *region;
	const struct cm_rule *rule;
};

struct cm_symbol_entries {
	const struct cm_site_file *file;
	size_t n_bytes;
	struct cm_symbol_entry *rows; /* by name, then source file, then offset */
	size_t n_rows;
	size_t n_how[CM_SITE_HOW_TRAP + 1]; /* rows, by enum cm_site_how */
};

/*
 * Fill object->entries of each listed object that a rule with internal=yes can match, and mark its
 * rules as matched. What cannot be done for a library is said in a line, and it is left out; for
 * the binary itself it is an error.
 */
int cm_symbols_add_entries(struct cm_symbols *list, const char *config, const char *symbols,
			   const struct cm_rule_set *set, struct cm_diag *diag);

/* NULL is allowed. */
void cm_symbol_entries_free(struct cm_symbol_entries *entries);

/* "jump", "short jump", "trap"; NULL for what is refused. Static. */
const char *cm_symbol_entries_how(enum cm_site_how how);

#endif
