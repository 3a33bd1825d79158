/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The build-id of a binary, through its program headers.
 *
 * Threads: any. Errors: -EBADMSG and a line in diag where notes are damaged.
 */
#ifndef CALLMARK_COLLECTOR_ELF_BUILD_ID_H
#define CALLMARK_COLLECTOR_ELF_BUILD_ID_H

#include "collector/elf-binary.h"

/* 1 and its bytes, owned by elf; 0: it has none. */
int cm_elf_build_id(const struct cm_elf *elf, const uint8_t **ret_id, size_t *ret_n,
		    struct cm_diag *diag);

/* The same in bytes of notes, whose descriptions are padded to `align`. -EBADMSG, without a line.
 */
int cm_elf_notes_build_id(const uint8_t *notes, size_t n_bytes, size_t align,
			  const uint8_t **ret_id, size_t *ret_n);

#endif
