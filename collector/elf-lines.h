/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to collector/elf-*.c: source lines by address, from the DWARF of one file, which stays
 * open meanwhile.
 *
 * Threads: one at a time. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_ELF_LINES_H
#define CALLMARK_COLLECTOR_ELF_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct Elf; /* libelf's */
struct cm_elf_lines;

/* -ENOENT: no line tables in it. -EFBIG: opening it takes long, and is_thorough is not set. */
int cm_elf_lines_open(struct cm_elf_lines **ret_lines, struct Elf *handle, bool is_thorough);

/* NULL is allowed. */
void cm_elf_lines_close(struct cm_elf_lines *lines);

/* See cm_elf_names_line(). */
bool cm_elf_lines_find(struct cm_elf_lines *lines, uint64_t address, bool is_entry,
		       const char **ret_file, int *ret_line);

#endif
