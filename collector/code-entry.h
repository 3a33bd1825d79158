/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the first instructions of a function can stand elsewhere, so that a jump fits in their place
 * (preload/site-file.h).
 *
 *	entry = (struct cm_code_entry){.bytes = code, .address = ..., .n_function = size, ...};
 *	rc = cm_code_entry_plan(&entry, &site);
 *
 * Pure functions of bytes, any thread. Errors: -ENOSPC, -EINVAL, with a reason in the words of a
 * site file.
 */
#ifndef CALLMARK_COLLECTOR_CODE_ENTRY_H
#define CALLMARK_COLLECTOR_CODE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/site-file.h"

#define CM_CODE_ENDBR_BYTES 4u

struct cm_code_entry {
	const uint8_t *bytes; /* n_all of them, at `address` */
	uint64_t address;
	size_t n_function;   /* bytes of the function */
	size_t n_all;	     /* and of padding behind it that nothing else uses */
	unsigned int n_jump; /* bytes that will be overwritten: 5, 2 or 1 */
	/* Answers. */
	unsigned int n_instructions; /* that move, or are overwritten */
	bool has_prologue; /* what moves makes a stack frame: no loop begins before its end */
	char reason[96];
};

/*
 * Fill offset, place, expected, moved, fixups and is_single. -ENOSPC: it is shorter than the jump;
 * -EINVAL: what is there cannot be moved. *site is undefined then.
 */
int cm_code_entry_plan(struct cm_code_entry *entry, struct cm_site_function *site);

/* Is there an endbr64? */
bool cm_code_entry_has_endbr(const uint8_t *bytes, size_t n_bytes);

/* How many of n_bytes are instructions that only fill: nop of all lengths, int3. */
size_t cm_code_entry_padding(const uint8_t *bytes, size_t n_bytes);

/*
 * Does the code, at `address`, call or jump to one of these addresses? The index of the first such
 * target, or -1.
 */
int cm_code_entry_calls(const uint8_t *bytes, size_t n_bytes, uint64_t address,
			const uint64_t *targets, size_t n_targets);

#endif
