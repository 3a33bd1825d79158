/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of loaded objects, and reading their dynamic sections in memory. */
#include "preload/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/caller-frame.h"
#include "preload/memory.h"
#include "preload/process.h"

#define CM_MAX_OBJECTS 8192u

static struct cm_object *objects[CM_MAX_OBJECTS];
static _Atomic uint32_t n_objects; /* entries below it are complete: hooks read without a lock */

const char *cm_object_own_path(void)
{
	Dl_info info;

	return dladdr(&n_objects, &info) ? info.dli_fname : NULL;
}

uint32_t cm_object_count(void)
{
	return n_objects;
}

struct cm_object *cm_object_at(uint32_t idx)
{
	return objects[idx];
}

struct cm_object *cm_object_of(const void *address)
{
	uint64_t a = (uint64_t)address;

	for (uint32_t i = 0; i < n_objects; i++)
		if (!objects[i]->is_gone && a >= objects[i]->low && a < objects[i]->high)
			return objects[i];
	return NULL;
}

bool cm_object_has_code(const struct cm_object *object, uint64_t address)
{
	for (int i = 0; i < object->n_texts; i++)
		if (address >= object->texts[i].low && address < object->texts[i].high)
			return true;
	return false;
}

/* The loader has added the load bias to these, unless the section is read-only. */
static const void *pointer(const struct cm_object *object, const Elf64_Dyn *dyn)
{
	uint64_t value = dyn->d_un.d_ptr;

	return (const void *)(value < object->base ? value + object->base : value);
}

static void read_table(struct cm_object *object, const Elf64_Dyn *dyn)
{
	const void *p = pointer(object, dyn);

	switch (dyn->d_tag) {
	case DT_SYMTAB:
		object->symbols = p;
		break;
	case DT_STRTAB:
		object->strings = p;
		break;
	case DT_VERSYM:
		object->versions = p;
		break;
	case DT_VERNEED:
		object->needs = p;
		break;
	case DT_VERDEF:
		object->defs = p;
		break;
	case DT_GNU_HASH:
		object->gnu_hash = p;
		break;
	case DT_HASH:
		object->sysv_hash = p;
		break;
	case DT_RELA:
		object->rela = p;
		break;
	case DT_JMPREL:
		object->plt_rela = p;
		break;
	default:
		break;
	}
}

static void read_value(struct cm_object *object, const Elf64_Dyn *dyn)
{
	uint64_t value = dyn->d_un.d_val;

	switch (dyn->d_tag) {
	case DT_RELASZ:
		object->n_rela = value / sizeof(Elf64_Rela);
		break;
	case DT_PLTRELSZ:
		object->n_plt_rela = value / sizeof(Elf64_Rela);
		break;
	case DT_BIND_NOW:
		object->binds_now = true;
		break;
	case DT_SYMBOLIC:
		object->binds_own_first = true;
		break;
	case DT_FLAGS:
		object->binds_now |= !!(value & DF_BIND_NOW);
		object->binds_own_first |= !!(value & DF_SYMBOLIC);
		break;
	case DT_FLAGS_1:
		object->binds_now |= !!(value & DF_1_NOW);
		break;
	default:
		break;
	}
}

static void read_dynamic(struct cm_object *object)
{
	for (const Elf64_Dyn *dyn = object->dynamic; dyn && dyn->d_tag != DT_NULL; dyn++) {
		read_table(object, dyn);
		read_value(object, dyn);
	}
	/* x86-64 has no other kind of relocation than RELA, in either table. */
	if (!object->rela)
		object->n_rela = 0;
	if (!object->plt_rela)
		object->n_plt_rela = 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_segments(struct cm_object *object, const struct dl_phdr_info *info)
{
	object->low = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *phdr = &info->dlpi_phdr[i];
		uint64_t low = object->base + phdr->p_vaddr, high = low + phdr->p_memsz;

		if (phdr->p_type == PT_DYNAMIC)
			object->dynamic = (const Elf64_Dyn *)low;
		if (phdr->p_type == PT_GNU_EH_FRAME)
			object->unwind_table = (const uint8_t *)low;
		if (phdr->p_type != PT_LOAD)
			continue;
		object->low = low < object->low ? low : object->low;
		object->high = high > object->high ? high : object->high;
		if (phdr->p_flags & PF_X && object->n_texts < CM_MAX_TEXTS) {
			object->texts[object->n_texts].low = low;
			object->texts[object->n_texts++].high = high;
		}
	}
}

static bool contains(const struct cm_object *object, uint64_t address)
{
	return address >= object->low && address < object->high;
}

static struct cm_object *add(const struct dl_phdr_info *info)
{
	struct cm_object *object;

	if (n_objects >= CM_MAX_OBJECTS)
		return NULL;
	object = cm_memory_get(NULL, sizeof(*object));
	if (!object)
		return NULL;
	object->base = info->dlpi_addr;
	read_segments(object, info);
	object->is_main = !n_objects; /* the program is always the first */
	object->path = cm_memory_string(info->dlpi_name ? info->dlpi_name : "");
	if (!object->path)
		return NULL;
	object->name = base_name(object->is_main ? cm_settings.executable : object->path);
	object->is_skipped = !object->dynamic || contains(object, (uint64_t)&n_objects) ||
			     contains(object, getauxval(AT_BASE)) ||
			     contains(object, getauxval(AT_SYSINFO_EHDR));
	if (!object->is_skipped)
		read_dynamic(object);
	objects[n_objects] = object;
	atomic_store_explicit(&n_objects, n_objects + 1, memory_order_release);
	return object;
}

struct refresh {
	int n_new;
	uint64_t seen[CM_MAX_OBJECTS / 64];
};

static int visit(struct dl_phdr_info *info, size_t n_bytes, void *ctx)
{
	struct refresh *refresh = ctx;
	uint64_t first = 0;

	(void)n_bytes;
	for (int i = 0; i < info->dlpi_phnum && !first; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	for (uint32_t i = 0; i < n_objects; i++) {
		const struct cm_object *object = objects[i];

		if (object->is_gone || object->base != info->dlpi_addr || object->low != first)
			continue;
		/* Another library at the same address between two looks is a new one. */
		if (strcmp(object->path, info->dlpi_name ? info->dlpi_name : ""))
			continue;
		refresh->seen[i / 64] |= UINT64_C(1) << i % 64;
		return 0;
	}
	if (add(info)) {
		refresh->seen[(n_objects - 1) / 64] |= UINT64_C(1) << (n_objects - 1) % 64;
		refresh->n_new++;
	}
	return 0;
}

int cm_object_refresh(void)
{
	int n_gone = 0;
	static struct refresh refresh; /* the sites lock is held; too large for a small stack */

	memset(&refresh, 0, sizeof(refresh));
	(void)dl_iterate_phdr(visit, &refresh); /* visit always returns 0 */
	for (uint32_t i = 0; i < n_objects; i++) {
		if (refresh.seen[i / 64] >> i % 64 & 1 || objects[i]->is_gone)
			continue;
		objects[i]->is_gone = true;
		n_gone++;
	}
	if (refresh.n_new || n_gone)
		cm_caller_reset();
	return refresh.n_new;
}
