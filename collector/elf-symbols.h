/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What names places in the code of a binary: its own symbol tables and that of its debug file.
 *
 *	rc = cm_elf_symbols_read(&symbols, elf, &code, &diag);
 *	rc = cm_elf_symbols_add(&symbols, debug, &code);	 any number of debug files
 *	cm_elf_symbols_fini(&symbols);
 *
 * Strings are owned by elf and debug. Threads: one at a time. Errors: -EBADMSG and a line in diag,
 * -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_ELF_SYMBOLS_H
#define CALLMARK_COLLECTOR_ELF_SYMBOLS_H

#include "collector/elf-binary.h"
#include "collector/elf-code.h"

struct cm_elf_file;

struct cm_elf_symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *source; /* base name of the source file; "" where the table does not say */
	uint8_t type;	    /* STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE */
	bool is_local;
};

struct cm_elf_symbols {
	struct cm_elf_symbol *symbols;
	size_t n_symbols;
	size_t n_room;
};

int cm_elf_symbols_read(struct cm_elf_symbols *symbols, struct cm_elf *elf,
			const struct cm_elf_code *code, struct cm_diag *diag);

/* What is of another machine is left out. */
int cm_elf_symbols_add(struct cm_elf_symbols *symbols, const struct cm_elf_file *debug,
		       const struct cm_elf_code *code);
void cm_elf_symbols_fini(struct cm_elf_symbols *symbols);

/* Entries of the binary's own .symtab: 0 once it is stripped. */
uint32_t cm_elf_symbols_own(struct cm_elf *elf);

#endif
