/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The original behind a slot: what is in it, once the loader has bound it; else what the loader
 * would bind it to. A lazy slot's own resolver stub is never the original: calling it would
 * overwrite our hook.
 */
#include <dlfcn.h>
#include <string.h>

#include "preload/sites.h"

/* Does a lazy slot still point into the PLT of its own object? */
static bool is_unbound(const struct cm_object *object, const Elf64_Sym *symbol, uint64_t value,
		       uint64_t plt_idx)
{
	const unsigned char *code = (const unsigned char *)value;
	uint32_t pushed;

	if (object->binds_now || !cm_object_has_code(object, value))
		return false;
	if (symbol->st_shndx == SHN_UNDEF)
		return true; /* another object defines it */
	if (value == object->base + symbol->st_value)
		return false;
	/* Its own definition, perhaps by IFUNC; or "push the relocation's index". */
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		code += 4;
	memcpy(&pushed, code + 1, sizeof(pushed));
	return *code == 0x68 && pushed == plt_idx;
}

/* dlsym prefers the newest version; a reference without version binds to the base one. */
static void *base_definition(void *handle, const char *name)
{
	void *address = dlsym(handle, name);
	const struct cm_object *definer = address ? cm_object_of(address) : NULL;
	const Elf64_Sym *symbol = definer ? cm_object_find(definer, name, "") : NULL;

	return symbol ? cm_object_address(definer, symbol) : address;
}

static void *look_up(void *handle, const char *name, const char *version)
{
	return *version ? dlvsym(handle, name, version) : base_definition(handle, name);
}

static void *look_up_locally(const struct cm_object *object, const char *name, const char *version)
{
	void *handle = dlopen(object->is_main ? NULL : object->path, RTLD_LAZY | RTLD_NOLOAD);
	void *address = handle ? look_up(handle, name, version) : NULL;

	if (handle)
		(void)dlclose(handle); /* gives back what was just taken */
	return address;
}

/*
 * A program that is not position-independent and takes a function's address makes its own PLT
 * entry stand for the function, also to other objects. Behind it is another slot that we change:
 * calling it from a stub would count twice, or for ever. The definition proper is in the first
 * other object that has one.
 */
static void *behind_program_plt(void *address, const char *name, const char *version)
{
	const struct cm_object *program = cm_object_of(address);

	if (!program || !program->is_main || cm_object_find(program, name, NULL))
		return address;
	for (uint32_t i = 1; i < cm_object_count(); i++) {
		const struct cm_object *object = cm_object_at(i);
		const Elf64_Sym *symbol = object->is_gone || object->is_skipped
						  ? NULL
						  : cm_object_find(object, name, version);

		if (symbol)
			return cm_object_address(object, symbol);
	}
	return NULL;
}

void *cm_sites_resolve(const struct cm_object *object, const Elf64_Rela *rela, uint64_t plt_idx)
{
	uint32_t idx = (uint32_t)ELF64_R_SYM(rela->r_info);
	const Elf64_Sym *symbol = &object->symbols[idx];
	uint64_t value = *(volatile uint64_t *)(object->base + rela->r_offset);
	const char *name = object->strings + symbol->st_name;
	const char *version = cm_object_version(object, idx);
	void *address = NULL;

	if (ELF64_R_TYPE(rela->r_info) != R_X86_64_JUMP_SLOT ||
	    !is_unbound(object, symbol, value, plt_idx))
		return behind_program_plt((void *)value, name, version);
	if (object->binds_own_first)
		address = look_up_locally(object, name, version);
	if (!address)
		address = look_up(RTLD_DEFAULT, name, version);
	if (!address)
		address = look_up_locally(object, name, version);
	return address ? behind_program_plt(address, name, version) : NULL;
}
