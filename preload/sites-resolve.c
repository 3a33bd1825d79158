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
	if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		return value != object->base + symbol->st_value;
	/* Its own IFUNC chose some function of its own; or "push the relocation's index". */
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		code += 4;
	memcpy(&pushed, code + 1, sizeof(pushed));
	return (*code == 0x68 && pushed == plt_idx) ||
	       !memcmp(code, "\x41\x53\xff\x35", 4); /* mold: push %r11, push the link map */
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

static void *look_up_in(const struct cm_object *object, const char *name, const char *version)
{
	void *handle = object->is_main ? NULL : dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD);
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
static void *behind_program_plt(const char *name, const char *version)
{
	void *address = NULL;

	for (uint32_t i = 1; i < cm_object_count() && !address; i++) {
		const struct cm_object *object = cm_object_at(i);
		const Elf64_Sym *symbol;
		void *pin = NULL;

		if (object->is_gone || object->is_skipped)
			continue;
		/* Another thread may be closing what was opened. */
		if (!object->is_startup && !(pin = dlopen(object->path, RTLD_LAZY | RTLD_NOLOAD)))
			continue;
		symbol = cm_object_find(object, name, version);
		if (symbol)
			address = cm_object_address(object, symbol);
		if (pin)
			(void)dlclose(pin); /* gives back what was just taken */
	}
	return address;
}

/*
 * As the loader binds a call: a stand-in is passed over. dlsym would not do that, and would take
 * mold's stand-in for an IFUNC to be a resolver.
 */
static void *look_up_globally(const char *name, const char *version)
{
	const struct cm_object *object = NULL;
	const Elf64_Sym *symbol;

	if (cm_object_stands_in(cm_object_at(0), name))
		return behind_program_plt(name, version);
	/*
	 * dlvsym is stricter than the loader: it passes over interposers that have no versions. And
	 * dlsym is slow.
	 */
	symbol = cm_object_find_global(name, version, &object);
	return symbol ? cm_object_address(object, symbol) : look_up(RTLD_DEFAULT, name, version);
}

/*
 * What was opened with RTLD_LOCAL also sees the libraries of the object that was opened, not only
 * its own: a helper library may call back into its plugin.
 */
static void *look_up_locally(const struct cm_object *object, const char *name, const char *version)
{
	void *address = NULL;

	for (uint32_t i = 1; i < cm_object_count() && !address; i++) {
		const struct cm_object *opener = cm_object_at(i);

		if (!opener->is_gone && !opener->is_skipped &&
		    (opener == object || cm_object_needs(opener, object)))
			address = look_up_in(opener, name, version);
	}
	return address;
}

/* The objects that the loader would look into, in its order. */
static void *look_up_call(const struct cm_object *object, const Elf64_Sym *symbol, const char *name,
			  const char *version)
{
	void *address = NULL;

	if (object->binds_symbolically && symbol->st_shndx != SHN_UNDEF)
		return cm_object_address(object, symbol);
	if (object->binds_deeply)
		address = look_up_locally(object, name, version);
	if (!address)
		address = look_up_globally(name, version);
	return address ? address : look_up_locally(object, name, version);
}

void *cm_sites_resolve(const struct cm_object *object, const Elf64_Rela *rela, uint64_t plt_idx)
{
	uint32_t idx = (uint32_t)ELF64_R_SYM(rela->r_info);
	const Elf64_Sym *symbol = &object->symbols[idx];
	uint64_t value = *(volatile uint64_t *)(object->base + rela->r_offset);
	const struct cm_object *program = cm_object_at(0);
	const char *name = object->strings + symbol->st_name;
	const char *version = cm_object_version(object, idx);

	if (ELF64_R_TYPE(rela->r_info) == R_X86_64_JUMP_SLOT &&
	    is_unbound(object, symbol, value, plt_idx))
		return look_up_call(object, symbol, name, version);
	if (value >= program->low && value < program->high && cm_object_stands_in(program, name))
		return behind_program_plt(name, version);
	return (void *)value;
}

bool cm_sites_has_address(const struct cm_object *object, const void *address)
{
	for (uint64_t i = 0; i < object->n_rela; i++) {
		const Elf64_Rela *rela = &object->rela[i];
		uint32_t type = ELF64_R_TYPE(rela->r_info);

		if ((type == R_X86_64_GLOB_DAT || type == R_X86_64_64) && !rela->r_addend &&
		    *(void *volatile *)(object->base + rela->r_offset) == address)
			return true;
	}
	return false;
}
