/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a binary on disk calls through slots that the loader fills, and what it defines itself:
 * the view from outside of what the preload can patch inside (design.md, Sites).
 *
 * Same rules of ownership, threads and errors as elf-binary.h.
 */
#ifndef CALLMARK_COLLECTOR_ELF_IMPORTS_H
#define CALLMARK_COLLECTOR_ELF_IMPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/elf-binary.h"

/* How the binary refers to a symbol; or-ed. */
#define CM_IMPORT_JUMP_SLOT 1u /* R_*_JUMP_SLOT */
#define CM_IMPORT_GLOB_DAT 2u  /* R_*_GLOB_DAT that calls go through, see preload/slot-use.h */
#define CM_IMPORT_ADDRESS 4u   /* R_*_GLOB_DAT whose value is used as an address (or data) */

struct cm_elf_import {
	const char *symbol;
	unsigned means;
	uint8_t type;	 /* STT_* of the reference; STT_NOTYPE is usual */
	bool is_weak;	 /* may stay undefined */
	bool is_defined; /* by the binary itself: it calls its own function through a slot */
};

/*
 * All of them, sorted by name, each name once. *ret_imports is the caller's, to free(); it may be
 * NULL when there are none. -EBADMSG where tables point outside of the file; -ENOMEM.
 */
int cm_elf_imports(struct cm_elf *elf, struct cm_elf_import **ret_imports, size_t *ret_n,
		   struct cm_diag *diag);

/*
 * Does it define this dynamic symbol? 1 and the type (STT_FUNC, STT_OBJECT, ...) if so, 0 if not;
 * -EBADMSG, -ENOMEM.
 */
int cm_elf_definition(struct cm_elf *elf, const char *symbol, uint8_t *ret_type,
		      struct cm_diag *diag);

#endif
