/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen for a caller that is not us: libc looks at the return address to find the caller's
 * RPATH, RUNPATH and $ORIGIN, and would find ours. Whatever depends on it is done here first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "preload/loader.h"
#include "preload/object.h"
#include "preload/process.h"
#include "preload/syscall.h"

#define CM_PATH_BYTES 4096

/* A name that a search of ours has found, and the file: glibc would know it by that name. */
struct found {
	struct found *next;
	const char *path;
	char name[];
};
static _Atomic(struct found *) found_names;

/* The folder that $ORIGIN means for code of this object; NULL where it is not known. */
static const char *origin_of(const struct link_map *map, char *buf, size_t n_bytes)
{
	const char *path = *map->l_name ? map->l_name : cm_settings.executable;
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	/* glibc keeps the folder of a relative name as it was when it was loaded. */
	if (*path != '/' && *map->l_name)
		return dlinfo((void *)(uintptr_t)map, RTLD_DI_ORIGIN, buf) ? NULL : buf;
	if (!slash || n >= n_bytes)
		return NULL;
	memcpy(buf, path, n);
	buf[n] = '\0';
	return n ? buf : "/";
}

/* Replace $ORIGIN and ${ORIGIN} by the folder of the caller; libc does the other tokens. */
static bool expand_origin(const char *file, const char *origin, char *buf, size_t n_bytes)
{
	size_t n_origin = strlen(origin), n = 0;

	for (; *file; file++) {
		size_t n_token = !strncmp(file, "$ORIGIN", 7)	  ? 7
				 : !strncmp(file, "${ORIGIN}", 9) ? 9
								  : 0;
		size_t n_text = n_token ? n_origin : 1;

		if (n + n_text >= n_bytes)
			return false;
		memcpy(buf + n, n_token ? origin : file, n_text);
		n += n_text;
		file += n_token ? n_token - 1 : 0;
	}
	buf[n] = '\0';
	return true;
}

static Dl_serinfo *search_list(void *handle)
{
	Dl_serinfo size, *list;

	if (dlinfo(handle, RTLD_DI_SERINFOSIZE, &size))
		return NULL;
	list = malloc(size.dls_size);
	if (!list)
		return NULL;
	list->dls_size = size.dls_size;
	list->dls_cnt = size.dls_cnt;
	if (dlinfo(handle, RTLD_DI_SERINFOSIZE, list) || dlinfo(handle, RTLD_DI_SERINFO, list)) {
		free(list);
		return NULL;
	}
	return list;
}

static bool lists(const Dl_serinfo *list, const char *folder)
{
	for (unsigned int i = 0; list && i < list->dls_cnt; i++)
		if (!strcmp(list->dls_serpath[i].dls_name, folder))
			return true;
	return false;
}

/*
 * Would libc's search stop at this file? It passes over what it cannot read and over libraries for
 * other machines, and stops at anything else, be it damaged.
 */
static bool is_found(const char *path)
{
	Elf64_Ehdr header = {0};
	int fd = cm_sys_open(path, O_RDONLY, 0);
	long n;

	if (fd < 0)
		return false;
	n = cm_sys3(SYS_read, fd, (long)&header, sizeof(header));
	cm_sys_close(fd);
	return n < (long)sizeof(header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	       (header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64);
}

static void remember(const char *name, const char *path)
{
	size_t n_name = strlen(name) + 1, n_path = strlen(path) + 1;
	struct found *found = atomic_load_explicit(&found_names, memory_order_acquire);

	for (; found; found = found->next)
		if (!strcmp(found->name, name) && !strcmp(found->path, path))
			return;
	found = malloc(sizeof(*found) + n_name + n_path);
	if (!found)
		return; /* it is found again by another search */
	memcpy(found->name, name, n_name);
	found->path = memcpy(found->name + n_name, path, n_path);
	found->next = atomic_load_explicit(&found_names, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&found_names, &found->next, found,
						      memory_order_release, memory_order_relaxed))
		;
}

/* A library that is loaded already, by its name or by one under which it was found. */
static void *open_loaded(const char *file, int flags)
{
	void *handle = dlopen(file, flags | RTLD_NOLOAD);
	struct found *found = atomic_load_explicit(&found_names, memory_order_acquire);

	for (; found && !handle; found = found->next)
		if (!strcmp(found->name, file))
			handle = dlopen(found->path, flags | RTLD_NOLOAD);
	return handle;
}

/* true: the search ends here, with *ret_handle or dlerror(). */
static bool try_folder(const char *folder, const char *file, int flags, void **ret_handle)
{
	static const char *const levels[] = {"glibc-hwcaps/x86-64-v4/", "glibc-hwcaps/x86-64-v3/",
					     "glibc-hwcaps/x86-64-v2/", ""};
	int first = __builtin_cpu_supports("x86-64-v4")	  ? 0
		    : __builtin_cpu_supports("x86-64-v3") ? 1
		    : __builtin_cpu_supports("x86-64-v2") ? 2
							  : 3;
	char path[CM_PATH_BYTES];

	for (int i = first; i < 4; i++) {
		size_t n_folder = strlen(folder), n_level = strlen(levels[i]);

		if (n_folder + n_level + strlen(file) + 2 > sizeof(path))
			continue;
		memcpy(path, folder, n_folder);
		path[n_folder] = '/';
		memcpy(path + n_folder + 1, levels[i], n_level);
		memcpy(path + n_folder + 1 + n_level, file, strlen(file) + 1);
		if (is_found(path)) {
			*ret_handle = dlopen(path, flags);
			if (*ret_handle)
				remember(file, path);
			return true;
		}
	}
	return false;
}

/*
 * The caller's folders in order, as long as there are some that we do not search ourselves. true:
 * found, with *ret_handle or dlerror().
 */
static bool search(const struct link_map *caller, const char *file, int flags, void **ret_handle)
{
	Dl_serinfo *theirs = search_list((void *)caller), *ours = NULL;
	struct link_map *own = NULL;
	bool found = false;
	Dl_info info;
	unsigned int last = 0;

	if (dladdr1((void *)(uintptr_t)search, &info, (void **)&own, RTLD_DL_LINKMAP) && own)
		ours = search_list(own);
	for (unsigned int i = 0; theirs && i < theirs->dls_cnt; i++)
		if (!lists(ours, theirs->dls_serpath[i].dls_name))
			last = i + 1;
	for (unsigned int i = 0; i < last && !found; i++)
		found = try_folder(theirs->dls_serpath[i].dls_name, file, flags, ret_handle);
	free(theirs);
	free(ours);
	return found;
}

static bool is_missing(const char *path)
{
	return cm_sys3(SYS_access, (long)path, 0 /* F_OK */, 0) == -ENOENT;
}

/* Nor is there such a file in our own folder, which is what libc takes $ORIGIN for? */
static bool is_missing_here(const char *file)
{
	const char *own = cm_object_own_path();
	const char *slash = own ? strrchr(own, '/') : NULL;
	char folder[CM_PATH_BYTES], path[CM_PATH_BYTES];
	size_t n = slash ? (size_t)(slash - own) : sizeof(folder);

	if (n >= sizeof(folder))
		return false;
	memcpy(folder, own, n);
	folder[n] = '\0';
	return expand_origin(file, folder, path, sizeof(path)) && is_missing(path);
}

void *cm_loader_open_for(const char *file, int flags, const void *caller)
{
	char path[CM_PATH_BYTES], buf[CM_PATH_BYTES];
	const char *given = file, *origin;
	struct link_map *map = NULL;
	void *handle = NULL;
	Dl_info info;

	if (!file || !*file || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return dlopen(file, flags);
	origin = strchr(file, '$') ? origin_of(map, buf, sizeof(buf)) : NULL;
	if (origin && expand_origin(file, origin, path, sizeof(path)))
		file = path;
	if (!strchr(file, '/')) {
		/* A library that is loaded already is preferred to any folder. */
		handle = open_loaded(file, flags);
		if (!handle && search(map, file, flags, &handle))
			return handle;
	}
	if (!handle)
		handle = dlopen(file, flags);
	/* dlerror() names what the program asked for; unless the same name is ours, next to us. */
	if (!handle && file == path && is_missing(path) && is_missing_here(given))
		(void)dlopen(given, flags); /* fails: neither is there */
	return handle;
}
