/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to collector/elf-*.c: a file opened with libelf for its sections, whether binary or debug
 * file. struct cm_elf is for binaries alone, and for what the loader makes of them.
 *
 *	rc = cm_elf_file_open(&file, path);
 *	section = cm_elf_file_section(file.handle, ".debug_line");
 *	cm_elf_file_close(&file);
 *
 * The file is mapped: line tables may be large. Threads: one at a time. Errors: negative errno.
 */
#ifndef CALLMARK_COLLECTOR_ELF_FILE_H
#define CALLMARK_COLLECTOR_ELF_FILE_H

struct Elf; /* libelf's */
struct Elf_Scn;

struct cm_elf_file {
	struct Elf *handle; /* NULL: not open */
	int fd;		    /* -1: in memory */
	char *bytes;	    /* there, owned */
};

/* A regular file. -ENOEXEC: no ELF file; those of open(2). */
int cm_elf_file_open(struct cm_elf_file *file, const char *path);

/* A zeroed struct, or one whose opening failed, is closed without harm. */
void cm_elf_file_close(struct cm_elf_file *file);

/* A section by its name, of any file that libelf opened; NULL. */
struct Elf_Scn *cm_elf_file_section(struct Elf *handle, const char *name);

#endif
