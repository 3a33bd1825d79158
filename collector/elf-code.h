/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a binary, by address: its loadable segments, and which of them are instructions.
 *
 *	rc = cm_elf_code_read(&code, elf, &diag);
 *	bytes = cm_elf_code_at(&code, address, n_bytes);
 *	cm_elf_code_fini(&code);
 *
 * The one place that looks at section headers, which tell instructions from what else an executable
 * segment holds; where they are missing or do not fit the segments, segments stand in for them.
 *
 * Bytes are owned by elf. Threads: one at a time. Errors: -EBADMSG and a line in diag, -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_ELF_CODE_H
#define CALLMARK_COLLECTOR_ELF_CODE_H

#include "collector/code-map.h"
#include "collector/elf-binary.h"

struct cm_elf_code {
	struct cm_code_part *segments; /* what the file holds of each PT_LOAD */
	size_t n_segments;
	struct cm_code_part *texts; /* ascending, apart from one another */
	size_t n_texts;
	uint64_t begin, end; /* of all texts */
};

int cm_elf_code_read(struct cm_elf_code *code, struct cm_elf *elf, struct cm_diag *diag);
void cm_elf_code_fini(struct cm_elf_code *code);

/* NULL where the file does not have them in one segment. */
const uint8_t *cm_elf_code_at(const struct cm_elf_code *code, uint64_t address, size_t n_bytes);

/* The text with this address, or NULL. */
const struct cm_code_part *cm_elf_code_text(const struct cm_elf_code *code, uint64_t address);

/*
 * Words that are addresses of code once the program runs: addends of relative relocations, and in
 * a program with fixed addresses every aligned word of its data. found(ctx, place, value) for each
 * whose value is in a text. -EBADMSG for tables outside of the file, or what found returned.
 */
int cm_elf_code_words(const struct cm_elf_code *code, struct cm_elf *elf,
		      int (*found)(void *ctx, uint64_t place, uint64_t value), void *ctx,
		      struct cm_diag *diag);

/*
 * A section by name and its bytes in the file; false: there is none, or it is empty. What is
 * compressed is not expanded.
 */
bool cm_elf_code_section(struct cm_elf *elf, const char *name, struct cm_code_part *ret_part);

#endif
