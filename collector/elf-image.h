/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to collector/elf-*.c: what is inside a struct cm_elf, and bounds-checked access to the
 * file by the addresses that the dynamic segment uses.
 *
 * No libelf header here, so that elf-*.c stay the only places that see it.
 */
#ifndef CALLMARK_COLLECTOR_ELF_IMAGE_H
#define CALLMARK_COLLECTOR_ELF_IMAGE_H

#include <elf.h>

#include "collector/elf-binary.h"

#define CM_ELF_N_TAGS 32u /* DT_NULL .. DT_PREINIT_ARRAY: the tags that hold tables */

struct cm_elf_definition {
	const char *name;
	uint8_t type; /* STT_* */
};

struct cm_elf {
	int fd;
	struct Elf *handle;
	char *path;
	char machine_name[24];
	enum cm_elf_kind kind;
	const Elf64_Phdr *phdrs;
	size_t n_phdrs;
	const char *interpreter;
	const Elf64_Dyn *dynamic;
	size_t n_dynamic;
	uint64_t tags[CM_ELF_N_TAGS]; /* first value of each standard tag, 0 where absent */
	uint64_t gnu_hash;
	const char *strings; /* NUL-terminated as a whole */
	size_t n_strings;
	const char *soname;
	const char **needed;
	size_t n_needed;
	const Elf64_Sym *symbols; /* filled by elf-imports.c when first needed */
	size_t n_symbols;
	struct cm_elf_definition *definitions; /* sorted by name; likewise */
	size_t n_definitions;
};

/* Bytes of the file behind this address, up to its segment's end; 0 where there are none. */
size_t cm_elf_available(const struct cm_elf *elf, uint64_t address);

/*
 * n_bytes at this address as an array of libelf type `type` (an Elf_Type), in our byte order and
 * aligned; NULL where the file does not have them. Owned by elf.
 */
const void *cm_elf_at(const struct cm_elf *elf, uint64_t address, size_t n_bytes, int type);

/* Fill elf->symbols as far as the hash tables count them. -EBADMSG and a line in diag. */
int cm_elf_load_symbols(struct cm_elf *elf, struct cm_diag *diag);

/* Is this file for our machine? Of any file that libelf opened. */
bool cm_elf_is_native(struct Elf *handle);

/* The string at this offset of DT_STRTAB; "" where there is none. */
const char *cm_elf_string(const struct cm_elf *elf, uint64_t offset);

#endif
