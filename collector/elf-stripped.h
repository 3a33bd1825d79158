/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symbols that were stripped from a binary: in a separate debug file, found by the build-id or
 * by .gnu_debuglink as gdb does, or inside, compressed, in .gnu_debugdata.
 *
 *	rc = cm_elf_stripped_find(&place, elf, path);	     cheap: nothing is read as a whole
 *	rc = cm_elf_stripped_open(&debug, elf, place.path);     "" opens .gnu_debugdata
 *	cm_elf_stripped_close(debug);
 *
 * Looked for, in this order: /usr/lib/debug/.build-id/xx/rest.debug; the name that .gnu_debuglink
 * has, beside the binary, in .debug/ there, and below /usr/lib/debug. The latter must have the same
 * build-id, or without one the checksum that the link tells.
 *
 * Threads: one at a time. A debug file that is damaged or of another binary is no error: it is as
 * if it were not there.
 */
#ifndef CALLMARK_COLLECTOR_ELF_STRIPPED_H
#define CALLMARK_COLLECTOR_ELF_STRIPPED_H

#include <limits.h>

#include "collector/elf-binary.h"

struct Elf;
struct cm_elf_stripped;

struct cm_elf_stripped_place {
	char path[PATH_MAX]; /* "": there is none */
	uint64_t mtime_ns;   /* 0 then */
};

/* `path`: the binary's. 0; -ENOMEM. */
int cm_elf_stripped_find(struct cm_elf_stripped_place *place, struct cm_elf *elf, const char *path);

/* 1; 0: nothing there; -ENOMEM. */
int cm_elf_stripped_open(struct cm_elf_stripped **ret_debug, struct cm_elf *elf, const char *path);

/* NULL is allowed, in the next one too. */
void cm_elf_stripped_close(struct cm_elf_stripped *debug);
struct Elf *cm_elf_stripped_handle(const struct cm_elf_stripped *debug);

#endif
