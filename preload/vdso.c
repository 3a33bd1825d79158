/* SPDX-License-Identifier: BSD-3-Clause */
#include "preload/vdso.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

void *cm_vdso_find(const char *symbol)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *phdr;
	const Elf64_Dyn *dyn = NULL;
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;
	uint64_t load = 0, n_symbols;

	if (!base)
		return NULL;
	phdr = (const Elf64_Phdr *)(base + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD && !load)
			load = (uint64_t)base + phdr[i].p_offset - phdr[i].p_vaddr;
		if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (const Elf64_Dyn *)(base + phdr[i].p_offset);
	}
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (const Elf64_Sym *)(load + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			strings = (const char *)(load + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_HASH)
			hash = (const uint32_t *)(load + dyn->d_un.d_ptr);
	}
	if (!symbols || !strings || (!hash && strings < (const char *)symbols))
		return NULL;
	/* Without DT_HASH the table ends, at the latest, where the strings begin. */
	n_symbols = hash ? hash[1] : (size_t)(strings - (const char *)symbols) / sizeof(*symbols);
	for (uint64_t i = 0; i < n_symbols; i++)
		if (symbols[i].st_shndx && !strcmp(strings + symbols[i].st_name, symbol))
			return (void *)(load + symbols[i].st_value);
	return NULL;
}
