/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to collector/elf-*.c: files opened with libelf for their sections, the debug file of a
 * binary, and the line tables of one of both.
 *
 * Threads: one at a time. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_ELF_DEBUG_H
#define CALLMARK_COLLECTOR_ELF_DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Elf; /* libelf's */

struct cm_elf_debug_file {
	int fd;
	struct Elf *handle;
	char *path;
};

/* A regular ELF file. A zeroed struct, or one whose opening failed, is closed without harm. */
int cm_elf_debug_open(struct cm_elf_debug_file *file, const char *path);
void cm_elf_debug_close(struct cm_elf_debug_file *file);

/*
 * The debug file of this binary. build_id: its own, in hexadecimal; "" without one. -ENOENT: there
 * is none.
 */
int cm_elf_debug_find(struct cm_elf_debug_file *ret_file, const struct cm_elf_debug_file *binary,
		      const char *build_id);

/* A section by its name; NULL. */
struct Elf_Scn *cm_elf_debug_section(struct Elf *handle, const char *name);

/* GNU build-id in hexadecimal from the section headers; "" without one. */
void cm_elf_debug_build_id(struct Elf *handle, char *buf, size_t n_bytes);

/* DWARF of one file, which stays open meanwhile. */
struct cm_elf_lines;

/* -ENOENT: no line tables in it. -EFBIG: opening it takes long, and is_thorough is not set. */
int cm_elf_lines_open(struct cm_elf_lines **ret_lines, const struct cm_elf_debug_file *file,
		      bool is_thorough);
void cm_elf_lines_close(struct cm_elf_lines *lines);
bool cm_elf_lines_find(struct cm_elf_lines *lines, uint64_t address, bool is_entry,
		       const char **ret_file, int *ret_line);

#endif
