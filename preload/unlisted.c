/* SPDX-License-Identifier: BSD-3-Clause */
/* See unlisted.h. Segments are mapped without gaps between them, the first one lowest. */
#include "preload/unlisted.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/maps.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_MAX_BELOW 8 /* mappings of one object below its code */

/* The object's first mapping, from the one that holds its code on downwards. */
static bool find_header(uint64_t pc, struct cm_mapping *ret_mapping)
{
	struct cm_mapping mapping;

	if (cm_maps_find(pc, &mapping) < 0 || !(mapping.prot & PROT_EXEC))
		return false;
	for (int i = 0; i < CM_MAX_BELOW; i++) {
		uint64_t low = mapping.low;

		if (mapping.prot & PROT_READ &&
		    !__builtin_memcmp((const void *)low, ELFMAG, SELFMAG)) {
			*ret_mapping = mapping;
			return true;
		}
		if (cm_maps_find(low - 1, &mapping) < 0 || mapping.high != low)
			return false;
	}
	return false;
}

static const uint8_t *read_header(const struct cm_mapping *mapping, uint64_t pc)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)mapping->low;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(mapping->low + header->e_phoff);
	uint64_t n_bytes = mapping->high - mapping->low, first = UINT64_MAX;
	const uint8_t *table = NULL;
	bool has_pc = false;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(*phdr) ||
	    header->e_phoff > n_bytes ||
	    header->e_phnum > (n_bytes - header->e_phoff) / sizeof(*phdr))
		return NULL;
	for (int i = 0; i < header->e_phnum; i++) {
		uint64_t at = mapping->low + phdr[i].p_vaddr;

		if (phdr[i].p_type == PT_LOAD && first == UINT64_MAX)
			first = phdr[i].p_vaddr & ~UINT64_C(4095);
		if (first == UINT64_MAX)
			continue;
		at -= first;
		if (phdr[i].p_type == PT_GNU_EH_FRAME)
			table = (const uint8_t *)at;
		has_pc |= phdr[i].p_type == PT_LOAD && phdr[i].p_flags & PF_X && pc >= at &&
			  pc - at < phdr[i].p_memsz;
	}
	return has_pc ? table : NULL;
}

const uint8_t *cm_unlisted_table(uint64_t pc)
{
	const uint8_t *table = NULL;
	struct cm_mapping mapping;
	uint64_t mask;

	if (atomic_load_explicit(&cm_process_is_sealed, memory_order_relaxed))
		return NULL;
	mask = cm_sys_block_signals(); /* a descriptor is open meanwhile */
	if (find_header(pc, &mapping))
		table = read_header(&mapping, pc);
	cm_sys_restore_signals(mask);
	return table;
}
