/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The build-id of a binary, through its program headers, or of a debug file.
 *
 * Threads: any. Errors: -EBADMSG and a line in diag where notes are damaged.
 */
#ifndef CALLMARK_COLLECTOR_ELF_BUILD_ID_H
#define CALLMARK_COLLECTOR_ELF_BUILD_ID_H

#include "collector/elf-binary.h"

struct Elf; /* libelf's */

/* 1 and its bytes, owned by elf; 0: it has none. */
int cm_elf_build_id(const struct cm_elf *elf, const uint8_t **ret_id, size_t *ret_n,
		    struct cm_diag *diag);

/*
 * The same of any file that libelf opened, through its sections: a debug file has the segments'
 * headers, but not what was in them. Owned by handle. Damaged notes are none.
 */
int cm_elf_sections_build_id(struct Elf *handle, const uint8_t **ret_id, size_t *ret_n);

#endif
