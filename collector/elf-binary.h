/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program or shared object on disk, as the loader would see it: program headers and the dynamic
 * segment, never the section headers (they may be stripped or lie).
 *
 *	rc = cm_elf_open(&elf, path, &diag);
 *	cm_elf_kind(elf), cm_elf_needed(elf, i), cm_elf_imports(elf, ...)    elf-imports.h
 *	cm_elf_close(elf);
 *
 * Hostile input: every offset and count is checked against the file; a damaged one is -EBADMSG and
 * one line. Threads: one at a time per object. Strings are owned by the object, valid until close.
 */
#ifndef CALLMARK_COLLECTOR_ELF_BINARY_H
#define CALLMARK_COLLECTOR_ELF_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

struct Elf; /* libelf's */
struct cm_elf;

enum cm_elf_kind {
	CM_ELF_PROGRAM, /* dynamically linked, with an interpreter */
	CM_ELF_SHARED,	/* a shared object (the loader itself is one) */
	CM_ELF_STATIC,	/* no loader takes part: nothing can be preloaded */
	CM_ELF_FOREIGN, /* another class, byte order or architecture than ours */
	CM_ELF_OTHER,	/* relocatable object, core file */
};

/*
 * Errors: the system's (-ENOENT, -EACCES, ...), -ENOEXEC not an ELF file, -EBADMSG damaged or
 * truncated. Of a foreign file only the header is read.
 */
int cm_elf_open(struct cm_elf **ret_elf, const char *path, struct cm_diag *diag);

/* NULL is allowed. */
void cm_elf_close(struct cm_elf *elf);

enum cm_elf_kind cm_elf_kind(const struct cm_elf *elf);

/* The architecture in words, "AArch64"; "machine N" where we have none. */
const char *cm_elf_machine(const struct cm_elf *elf);

/* PT_INTERP and DT_SONAME; "" where there is none. */
const char *cm_elf_interpreter(const struct cm_elf *elf);
const char *cm_elf_soname(const struct cm_elf *elf);

/* DT_NEEDED in order; i < cm_elf_n_needed(). */
size_t cm_elf_n_needed(const struct cm_elf *elf);
const char *cm_elf_needed(const struct cm_elf *elf, size_t i);

/* libelf's, for those of elf-*.h that take any file. */
struct Elf *cm_elf_handle(const struct cm_elf *elf);

#endif
