/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a binary, and what was stripped from it, say of an address: the function, the source line.
 *
 *	rc = cm_elf_names_open(&names, path, build_id, true);
 *	name = cm_elf_names_function(names, address);        as the linker knows it: mangled
 *	cm_elf_names_line(names, address, false, &file, &line);
 *	cm_elf_names_close(names);
 *
 * Addresses are the file's. Nothing is read before it is needed: symbols for the first function,
 * DWARF for the first line, and neither from a file without them. Functions are those of .symtab;
 * without one, of the debug file's (see elf-debug-file.h for which that is); without that, of
 * .dynsym and .gnu_debugdata. Lines are the binary's, or else the debug file's.
 *
 * Damaged files have no names; nothing is reported. Strings belong to the names. Threads: one at a
 * time. Errors: negative errno of open only.
 */
#ifndef CALLMARK_COLLECTOR_ELF_NAMES_H
#define CALLMARK_COLLECTOR_ELF_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct cm_elf_names;

/*
 * build_id: in hexadecimal, what the file must have; "": any. is_thorough: also lines whose tables
 * take more than a few milliseconds to open (compressed ones: Debian's debug files). -ESTALE: it is
 * another one by now; -ENOEXEC: no ELF file of this machine; -ENOENT, -EACCES, -ENOMEM, ...
 */
int cm_elf_names_open(struct cm_elf_names **ret_names, const char *path, const char *build_id,
		      bool is_thorough);

/* NULL is allowed. */
void cm_elf_names_close(struct cm_elf_names *names);

/* Is this in a procedure linkage table? */
bool cm_elf_names_is_plt(const struct cm_elf_names *names, uint64_t address);

/* The function's symbol, or NULL. */
const char *cm_elf_names_function(struct cm_elf_names *names, uint64_t address);

/*
 * is_entry: of the function that begins there. The file is absolute where DWARF says in which
 * folder it was compiled, and valid until the next call. False where no DWARF says it.
 */
bool cm_elf_names_line(struct cm_elf_names *names, uint64_t address, bool is_entry,
		       const char **ret_file, int *ret_line);

#endif
