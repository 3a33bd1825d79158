/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen for a caller that is not us: libc looks at the return address to find the caller's
 * RPATH, RUNPATH and $ORIGIN, and would find ours. Whatever depends on it is done here first.
 */
#include "preload/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "preload/counters.h"
#include "preload/sites.h"
#include "preload/syscall.h"

#define CM_PATH_BYTES 4096

void *cm_loader_dlsym_handle(void *handle, const char *symbol);
void *cm_loader_dlvsym_handle(void *handle, const char *symbol, const char *version);

/* > 0 while a dlopen of this thread runs constructors, that is, holds the loader's lock. */
static __thread int depth __attribute__((tls_model("initial-exec")));

/* Replace $ORIGIN and ${ORIGIN} by the folder of the caller; libc does the other tokens. */
static bool expand_origin(const char *file, const char *caller_path, char *buf, size_t n_bytes)
{
	const char *slash = strrchr(caller_path, '/');
	size_t n_origin = slash ? (size_t)(slash - caller_path) : 1, n = 0;

	for (; *file; file++) {
		size_t n_token = !strncmp(file, "$ORIGIN", 7)	  ? 7
				 : !strncmp(file, "${ORIGIN}", 9) ? 9
								  : 0;
		const char *text = n_token ? (slash ? caller_path : ".") : file;
		size_t n_text = n_token ? n_origin : 1;

		if (n + n_text >= n_bytes)
			return false;
		memcpy(buf + n, text, n_text);
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

static bool exists(const char *path)
{
	return !cm_sys3(SYS_access, (long)path, 4 /* R_OK */, 0);
}

static void *try_folder(const char *folder, const char *file, int flags)
{
	static const char *const levels[] = {"glibc-hwcaps/x86-64-v4/", "glibc-hwcaps/x86-64-v3/",
					     "glibc-hwcaps/x86-64-v2/", ""};
	int first = __builtin_cpu_supports("x86-64-v4")	  ? 0
		    : __builtin_cpu_supports("x86-64-v3") ? 1
		    : __builtin_cpu_supports("x86-64-v2") ? 2
							  : 3;
	char path[CM_PATH_BYTES];
	void *handle;

	for (int i = first; i < 4; i++) {
		size_t n_folder = strlen(folder), n_level = strlen(levels[i]);

		if (n_folder + n_level + strlen(file) + 2 > sizeof(path))
			continue;
		memcpy(path, folder, n_folder);
		path[n_folder] = '/';
		memcpy(path + n_folder + 1, levels[i], n_level);
		memcpy(path + n_folder + 1 + n_level, file, strlen(file) + 1);
		handle = exists(path) ? dlopen(path, flags) : NULL;
		if (handle)
			return handle;
	}
	return NULL;
}

/* The caller's folders in order, as long as there are some that we do not search ourselves. */
static void *search(const struct link_map *caller, const char *file, int flags)
{
	Dl_serinfo *theirs = search_list((void *)caller), *ours = NULL;
	struct link_map *own = NULL;
	void *handle = NULL;
	Dl_info info;
	unsigned int last = 0;

	if (dladdr1((void *)(uintptr_t)search, &info, (void **)&own, RTLD_DL_LINKMAP) && own)
		ours = search_list(own);
	for (unsigned int i = 0; theirs && i < theirs->dls_cnt; i++)
		if (!lists(ours, theirs->dls_serpath[i].dls_name))
			last = i + 1;
	for (unsigned int i = 0; i < last && !handle; i++)
		handle = try_folder(theirs->dls_serpath[i].dls_name, file, flags);
	free(theirs);
	free(ours);
	return handle;
}

static void *open_for(const char *file, int flags, const void *caller)
{
	char path[CM_PATH_BYTES];
	struct link_map *map = NULL;
	Dl_info info;
	void *handle = NULL;

	if (!file || !*file || !dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return dlopen(file, flags);
	if (strchr(file, '$') && *map->l_name &&
	    expand_origin(file, map->l_name, path, sizeof(path)))
		file = path;
	if (!strchr(file, '/')) {
		/* A library that is loaded already is preferred to any folder. */
		handle = dlopen(file, flags | RTLD_NOLOAD);
		if (!handle && !(flags & RTLD_NOLOAD))
			handle = search(map, file, flags);
	}
	return handle ? handle : dlopen(file, flags);
}

void *cm_loader_dlopen(const char *file, int flags)
{
	void *handle;

	depth++;
	handle = open_for(file, flags, __builtin_return_address(0));
	depth--;
	if (handle && file && !(flags & RTLD_NOLOAD))
		cm_sites_refresh(flags & RTLD_DEEPBIND, !depth);
	if (handle && !depth)
		cm_counters_start();
	return handle;
}

int cm_loader_dlclose(void *handle)
{
	int rc;

	depth++;
	rc = dlclose(handle);
	depth--;
	if (!rc)
		cm_sites_refresh(false, !depth);
	return rc;
}

void *cm_loader_dlsym_handle(void *handle, const char *symbol)
{
	const struct cm_object *caller = cm_object_of(__builtin_return_address(0));
	void *address = dlsym(handle, symbol);

	return address ? cm_sites_dlsym(address, symbol, caller) : NULL;
}

void *cm_loader_dlvsym_handle(void *handle, const char *symbol, const char *version)
{
	const struct cm_object *caller = cm_object_of(__builtin_return_address(0));
	void *address = dlvsym(handle, symbol, version);

	return address ? cm_sites_dlsym(address, symbol, caller) : NULL;
}
