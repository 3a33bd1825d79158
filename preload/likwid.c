/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding liblikwid's functions, guarding its imports, and the gate around calls of it. */
#include "preload/likwid.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "preload/memory.h"
#include "preload/object.h"
#include "preload/page.h"
#include "preload/process.h"
#include "preload/syscall.h"

struct cm_likwid cm_likwid;
char **cm_likwid_environment;

static const struct {
	const char *symbol;
	size_t offset; /* in struct cm_likwid */
} functions[] = {
	{"likwid_markerInit", offsetof(struct cm_likwid, init)},
	{"likwid_markerClose", offsetof(struct cm_likwid, close)},
	{"likwid_markerNextGroup", offsetof(struct cm_likwid, next_group)},
	{"likwid_markerRegisterRegion", offsetof(struct cm_likwid, register_region)},
	{"likwid_markerStartRegion", offsetof(struct cm_likwid, start)},
	{"likwid_markerStopRegion", offsetof(struct cm_likwid, stop)},
	{"likwid_markerGetRegion", offsetof(struct cm_likwid, get)},
};

static int find_functions(void *handle, const char *path, struct cm_diag *diag)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *address = dlsym(handle, functions[i].symbol);

		if (!address)
			return cm_diag_set(diag, -ENOSYS, "%s has no function %s", path,
					   functions[i].symbol);
		memcpy((char *)&cm_likwid + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

static int keep_environment(void)
{
	size_t n = 0;

	for (char **entry = cm_settings.envp; entry && *entry; entry++)
		n += !strncmp(*entry, "LIKWID_", 7);
	cm_likwid_environment = cm_memory_get(NULL, (n + 1) * sizeof(char *));
	n = 0;
	for (char **entry = cm_settings.envp; cm_likwid_environment && entry && *entry; entry++)
		if (!strncmp(*entry, "LIKWID_", 7)) {
			cm_likwid_environment[n] = cm_memory_string(*entry);
			if (!cm_likwid_environment[n++])
				return -ENOMEM;
		}
	return cm_likwid_environment ? 0 : -ENOMEM;
}

/* What LIKWID brought along is its own business: hwloc, Lua. */
static void skip_new_objects(uint32_t first)
{
	for (uint32_t i = first; i < cm_object_count(); i++)
		cm_object_at(i)->is_skipped = true;
}

/* Path of a copy that the program has, or NULL. Sites lock held. */
static const char *find_loaded(void)
{
	for (uint32_t i = 0; i < cm_object_count(); i++) {
		const struct cm_object *object = cm_object_at(i);

		if (!object->is_gone && !strncmp(object->name, "liblikwid.so", 12))
			return object->path;
	}
	return NULL;
}

static int guard(uint32_t n_before, const char *path, struct cm_diag *diag)
{
	struct cm_object *object;
	int rc = keep_environment();

	cm_lock(&cm_process.sites_lock);
	(void)cm_object_refresh(); /* how many are new does not matter */
	skip_new_objects(n_before);
	object = cm_object_of((void *)cm_likwid.init);
	if (rc >= 0)
		rc = object ? cm_likwid_guard(object) : -ENOSYS;
	cm_unlock(&cm_process.sites_lock);
	return rc > 0 ? 0
		      : cm_diag_set(diag, rc ? rc : -ENOSYS, "%s: its imports cannot be guarded",
				    path);
}

int cm_likwid_open(const char *path, struct cm_diag *diag)
{
	const char *loaded;
	uint32_t n_before;
	void *handle;
	int rc;

	cm_lock(&cm_process.sites_lock);
	(void)cm_object_refresh(); /* those of this moment */
	n_before = cm_object_count();
	loaded = find_loaded();
	cm_unlock(&cm_process.sites_lock);
	/* Without our lock: whoever has the loader's may wait for it. */
	handle = dlopen(loaded ? loaded : path, RTLD_NOW | RTLD_LOCAL);
	rc = handle ? find_functions(handle, path, diag)
		    : cm_diag_set(diag, -ENOENT, "cannot load %s", path);
	(void)dlerror(); /* ours, not the program's */
	return rc < 0 ? rc : guard(n_before, path, diag);
}

static int patch(const struct cm_object *object, const Elf64_Rela *rela, uint64_t n_rela,
		 const void *(*choose)(const char *, uint64_t), struct cm_page *page)
{
	int n = 0;

	for (uint64_t i = 0; i < n_rela; i++) {
		unsigned int kind = ELF64_R_TYPE(rela[i].r_info);
		uint32_t idx = (uint32_t)ELF64_R_SYM(rela[i].r_info);
		uint64_t slot = object->base + rela[i].r_offset;
		const void *target;

		if (!idx || (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) ||
		    ELF64_ST_TYPE(object->symbols[idx].st_info) == STT_OBJECT)
			continue;
		target = choose(object->strings + object->symbols[idx].st_name,
				*(volatile uint64_t *)slot);
		if (!target || cm_page_open(page, slot) < 0)
			continue;
		atomic_store_explicit((_Atomic uint64_t *)slot, (uint64_t)target,
				      memory_order_release);
		n++;
	}
	return n;
}

int cm_likwid_patch(struct cm_object *object, const void *(*choose)(const char *, uint64_t))
{
	struct cm_page page = {0};
	int n;

	if (!object->symbols || !object->strings)
		return 0;
	n = patch(object, object->plt_rela, object->n_plt_rela, choose, &page);
	n += patch(object, object->rela, object->n_rela, choose, &page);
	cm_page_close(&page);
	return n;
}

bool cm_likwid_is_inside(void)
{
	return cm_likwid_call.is_inside;
}

static void enter(int cpu, uint64_t fill)
{
	uint32_t masked = 0x1f80;

	cm_likwid_call.saved_errno = errno;
	cm_likwid_call.cpu = cpu + 1;
	cm_likwid_call.fill = fill;
	__asm__ volatile("stmxcsr %0" : "=m"(cm_likwid_call.mxcsr));
	__asm__ volatile("ldmxcsr %0" : : "m"(masked));
	cm_likwid_call.is_inside = true;
}

static void leave(void)
{
	cm_likwid_call.is_inside = false;
	__asm__ volatile("ldmxcsr %0" : : "m"(cm_likwid_call.mxcsr));
	cm_likwid_call.fill = 0;
	cm_likwid_call.cpu = 0;
	errno = cm_likwid_call.saved_errno;
}

/* Where likwid-guard.c's exit jumps to: a function of its own, which is never inlined. */
static __attribute__((noinline)) int bail_out(void)
{
	atomic_store_explicit(&cm_likwid_is_lost, true, memory_order_release);
	leave();
	return -ECANCELED;
}

int cm_likwid_call_tag(int (*function)(const char *tag), const char *tag, int cpu, uint64_t fill)
{
	int rc;

	enter(cpu, fill);
	if (__builtin_setjmp(cm_likwid_call.bail))
		return bail_out();
	rc = function(tag);
	leave();
	return rc;
}

int cm_likwid_call_any(void (*function)(void *arg), void *arg, int cpu)
{
	enter(cpu, 0);
	if (__builtin_setjmp(cm_likwid_call.bail))
		return bail_out();
	function(arg);
	leave();
	return 0;
}
