/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to collector: what was stripped from a binary. It is in a separate debug file, found by
 * the build-id or by .gnu_debuglink as gdb does, or inside, compressed, in .gnu_debugdata.
 *
 *	cm_elf_debug_find(&place, handle, path, id, n_id);	  nothing is read as a whole
 *	rc = cm_elf_file_open(&file, place.path);		      where place.path is not ""
 *	rc = cm_elf_debug_expand(&inside, handle);
 *	cm_elf_file_close(&file);
 *
 * Looked for, in this order: /usr/lib/debug/.build-id/xx/rest.debug; the name that .gnu_debuglink
 * has, beside the binary (links followed), in .debug/ there, and in that folder below
 * /usr/lib/debug. It must have the binary's build-id; where one of both has none, the checksum that
 * the link tells, for which it is read as a whole. Nothing is ever asked of the network.
 *
 * .gnu_debugdata has symbols alone, and of those none that are in .dynsym.
 *
 * A debug file that is damaged, or of another binary, is no error: it is as if it were not there.
 * Threads: one at a time.
 */
#ifndef CALLMARK_COLLECTOR_ELF_DEBUG_FILE_H
#define CALLMARK_COLLECTOR_ELF_DEBUG_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/elf-file.h"

struct cm_elf_debug_place {
	char path[PATH_MAX]; /* "": there is none */
	uint64_t mtime_ns;   /* 0 then */
};

/* `handle`, `path` and the n_id bytes of `id` are the binary's; n_id 0: it has no build-id. */
void cm_elf_debug_find(struct cm_elf_debug_place *place, struct Elf *handle, const char *path,
		       const uint8_t *id, size_t n_id);

/* The file inside of the binary, in memory. -ENOENT: nothing there, or damaged; -ENOMEM. */
int cm_elf_debug_expand(struct cm_elf_file *ret_file, struct Elf *handle);

#endif
