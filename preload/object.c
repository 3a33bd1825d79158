/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of loaded objects, and reading their dynamic sections in memory. */
#include "preload/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "preload/caller-frame.h"
#include "preload/frame-rule.h"
#include "preload/memory.h"
#include "preload/process.h"

#define CM_MAX_OBJECTS 8192u

static struct cm_object *objects[CM_MAX_OBJECTS];
static _Atomic uint32_t n_objects; /* entries below it are complete: hooks read without a lock */
static uint32_t n_global;	   /* the first ones, which came with the program */
static uint32_t n_births;
static _Atomic uint64_t n_changes;
static uint32_t mark; /* of the current look or search: entries it came to carry it */

const char *cm_object_own_path(void)
{
	Dl_info info;

	return dladdr(&n_objects, &info) ? info.dli_fname : NULL;
}

uint32_t cm_object_count(void)
{
	return n_objects;
}

uint32_t cm_object_n_births(void)
{
	return n_births;
}

uint64_t cm_object_n_changes(void)
{
	return atomic_load_explicit(&n_changes, memory_order_acquire);
}

uint32_t cm_object_new_mark(void)
{
	return ++mark;
}

uint32_t cm_object_n_global(void)
{
	return n_global;
}

struct cm_object *cm_object_at(uint32_t idx)
{
	return objects[idx];
}

const struct cm_object *const *cm_object_list(void)
{
	return (const struct cm_object *const *)objects;
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
		object->binds_symbolically = true;
		break;
	case DT_FLAGS:
		object->binds_now |= !!(value & DF_BIND_NOW);
		object->binds_symbolically |= !!(value & DF_SYMBOLIC);
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

static void read_notes(struct cm_object *object, uint64_t at, uint64_t end)
{
	while (at + sizeof(Elf64_Nhdr) <= end) {
		const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
		uint64_t name = at + sizeof(*note);
		uint64_t text = name + (note->n_namesz + UINT64_C(3)) / 4 * 4;

		at = text + (note->n_descsz + UINT64_C(3)) / 4 * 4;
		if (at > end)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    note->n_descsz <= sizeof(object->build_id) &&
		    !memcmp((const char *)name, "GNU", 4)) {
			memcpy(object->build_id, (const void *)text, note->n_descsz);
			object->n_build_id = note->n_descsz;
		}
	}
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
		if (phdr->p_type == PT_NOTE)
			read_notes(object, low, high);
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

/* An entry for this path: that of a closed object which had it, or a new one. */
static struct cm_object *make_entry(const char *path)
{
	struct cm_object *object;

	for (uint32_t i = 0; i < n_objects; i++)
		if (objects[i]->is_gone && !strcmp(objects[i]->path, path))
			return objects[i];
	if (n_objects >= CM_MAX_OBJECTS)
		return NULL;
	object = cm_memory_get(NULL, sizeof(*object));
	if (!object)
		return NULL;
	object->is_main = !n_objects; /* the program is always the first */
	object->is_gone = true;
	object->path = cm_memory_string(path);
	if (!object->path)
		return NULL;
	object->name = base_name(object->is_main ? cm_settings.executable : object->path);
	objects[n_objects] = object;
	atomic_store_explicit(&n_objects, n_objects + 1, memory_order_release);
	return object;
}

static bool add(const struct dl_phdr_info *info)
{
	struct cm_object *object = make_entry(info->dlpi_name ? info->dlpi_name : "");
	bool has_tables;

	if (!object)
		return false;
	/* Hooks pass it over while it is gone. */
	*object = (struct cm_object){.base = info->dlpi_addr,
				     .path = object->path,
				     .name = object->name,
				     .names = object->n_loads ? object->names : "\0",
				     .name_hash = object->name_hash,
				     .so_hash = object->so_hash,
				     .is_main = object->is_main,
				     .is_startup = object->is_startup || mark == 1,
				     .is_gone = true,
				     .n_loads = object->n_loads + 1,
				     .birth = ++n_births,
				     .mark = mark};
	read_segments(object, info);
	object->is_skipped = !object->dynamic || contains(object, (uint64_t)&n_objects) ||
			     contains(object, getauxval(AT_BASE)) ||
			     contains(object, getauxval(AT_SYSINFO_EHDR));
	has_tables = object->dynamic && (!object->is_skipped || object->is_main);
	if (has_tables)
		read_dynamic(object);
	/* The same file has the same names when it is loaded again. */
	if (has_tables && object->n_loads == 1)
		cm_object_keep_names(object);
	atomic_signal_fence(memory_order_seq_cst); /* x86: stores are seen in this order */
	object->is_gone = false;
	return true;
}

static bool is_known(const struct dl_phdr_info *info)
{
	uint64_t first = 0;

	for (int i = 0; i < info->dlpi_phnum && !first; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	for (uint32_t i = 0; i < n_objects; i++) {
		struct cm_object *object = objects[i];

		if (object->is_gone || object->base != info->dlpi_addr || object->low != first)
			continue;
		/* Another library at the same address between two looks is a new one. */
		if (strcmp(object->path, info->dlpi_name ? info->dlpi_name : ""))
			continue;
		/* Or the same one again: it cannot be unmapped while we are called back. */
		if ((object->check_slot && *object->check_slot != object->check_value) ||
		    (object->check_entry && *object->check_entry != object->check_byte)) {
			object->is_gone = true;
			return false;
		}
		object->mark = mark;
		return true;
	}
	return false;
}

static int visit(struct dl_phdr_info *info, size_t n_bytes, void *ctx)
{
	int *n_new = ctx;

	(void)n_bytes;
	if (!is_known(info) && add(info))
		++*n_new;
	return 0;
}

/*
 * At the start: what its libraries' constructors have opened stands behind what the program needs,
 * and the loader does not search it for everybody.
 */
static void look_first(void)
{
	cm_object_index();
	n_global = n_objects ? cm_object_end_of_needs(objects[0]) : 0;
}

/* Code has come or gone: what was remembered about addresses may be wrong now. */
static void forget_code(void)
{
	atomic_fetch_add_explicit(&n_changes, 1, memory_order_release);
	cm_caller_reset();
	cm_frame_steps_reset();
}

int cm_object_refresh(void)
{
	int n_gone = 0, n_new = 0;

	mark++;
	(void)dl_iterate_phdr(visit, &n_new); /* visit always returns 0 */
	for (uint32_t i = 0; i < n_objects; i++) {
		if (objects[i]->mark == mark || objects[i]->is_gone)
			continue;
		objects[i]->is_gone = true;
		n_gone++;
	}
	if (n_new || n_gone)
		forget_code();
	if (mark == 1)
		look_first();
	return n_new;
}
