/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go through the PLT and end in the binary itself: of each such entry, which function
 * the loader will take, as long as no other object defines it first.
 *
 *	rc = cm_elf_slots_read(&slots, elf, &code, &diag);
 *	cm_elf_slots_fini(&slots);
 *
 * Threads: one at a time. Errors: -EBADMSG and a line in diag, -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_ELF_SLOTS_H
#define CALLMARK_COLLECTOR_ELF_SLOTS_H

#include "collector/elf-code.h"

struct cm_elf_slot {
	uint64_t function; /* its address */
	uint64_t entry;	   /* in the PLT */
};

struct cm_elf_slots {
	struct cm_elf_slot *slots; /* ascending by function */
	size_t n_slots;
};

int cm_elf_slots_read(struct cm_elf_slots *slots, struct cm_elf *elf,
		      const struct cm_elf_code *code, struct cm_diag *diag);
void cm_elf_slots_fini(struct cm_elf_slots *slots);

/* The first one for this function, or NULL; *ret_n of them. */
const struct cm_elf_slot *cm_elf_slots_find(const struct cm_elf_slots *slots, uint64_t function,
					    size_t *ret_n);

#endif
