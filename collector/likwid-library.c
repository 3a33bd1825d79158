/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding and loading liblikwid. */
#include "collector/likwid-library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"liblikwid.so.5", "liblikwid.so"};
static const char *const folders[] = {"lib", "lib64", "lib/x86_64-linux-gnu"};

#define N_NAMES (sizeof(names) / sizeof(*names))
#define N_FOLDERS (sizeof(folders) / sizeof(*folders))

static bool try_open(struct cm_likwid *likwid, const char *path)
{
	likwid->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return likwid->handle != NULL;
}

/* One that is there and cannot be loaded (a library it needs is missing) is worth a message. */
static bool try_prefix(struct cm_likwid *likwid, const char *prefix, struct cm_diag *diag)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < N_FOLDERS * N_NAMES; i++) {
		int n = snprintf(path, sizeof(path), "%s/%s/%s", prefix, folders[i / N_NAMES],
				 names[i % N_NAMES]);

		if (n >= (int)sizeof(path) || access(path, R_OK) < 0)
			continue;
		if (try_open(likwid, path))
			return true;
		cm_diag_set(diag, -ENOENT, "cannot load liblikwid: %s", dlerror());
	}
	return false;
}

/* <prefix>/bin/likwid-perfctr -> <prefix>. */
static bool cut_prefix(char *path)
{
	for (int i = 0; i < 2; i++) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
	return true;
}

/* The likwid-perfctr on PATH, as it is found and as it is meant (module systems make links). */
static bool try_perfctr(struct cm_likwid *likwid, struct cm_diag *diag)
{
	const char *dir = getenv("PATH");

	while (dir && *dir) {
		char path[PATH_MAX], resolved[PATH_MAX];
		size_t n = strcspn(dir, ":");
		int n_path = snprintf(path, sizeof(path), "%.*s/likwid-perfctr", (int)n, dir);

		if (n && n_path < (int)sizeof(path) && access(path, X_OK) == 0) {
			bool is_resolved = realpath(path, resolved) != NULL;

			return (cut_prefix(path) && try_prefix(likwid, path, diag)) ||
			       (is_resolved && cut_prefix(resolved) &&
				try_prefix(likwid, resolved, diag));
		}
		dir += n;
		dir += *dir == ':';
	}
	return false;
}

static int search(struct cm_likwid *likwid, struct cm_diag *diag)
{
	const char *home = getenv("LIKWID_HOME");

	for (size_t i = 0; i < N_NAMES; i++) {
		if (try_open(likwid, names[i]))
			return 0;
	}
	if (home && *home && try_prefix(likwid, home, diag))
		return 0;
	if (try_perfctr(likwid, diag))
		return 0;
	return cm_diag_set(diag, -ENOENT,
			   "no liblikwid found (looked in the loader's folders, LIKWID_HOME%s%s, "
			   "and beside the likwid-perfctr on PATH): install LIKWID, or set "
			   "LIKWID_HOME",
			   home ? "=" : " which is not set", home ? home : "");
}

static void find_path(struct cm_likwid *likwid, const char *fallback)
{
	char resolved[PATH_MAX];
	struct link_map *map = NULL;

	if (dlinfo(likwid->handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name)
		fallback = map->l_name;
	if (*fallback != '/' && realpath(fallback, resolved))
		fallback = resolved;
	snprintf(likwid->path, sizeof(likwid->path), "%s", fallback);
}

int cm_likwid_open(struct cm_likwid *likwid, const char *path, struct cm_diag *diag)
{
	int rc = 0;

	memset(likwid, 0, sizeof(*likwid));
	if (!path)
		rc = search(likwid, diag);
	else if (!try_open(likwid, path))
		rc = cm_diag_set(diag, -ENOENT, "cannot load liblikwid: %s", dlerror());
	if (rc < 0)
		return rc;
	find_path(likwid, path ? path : "");
#define CM_LIKWID_LOAD(result, name, parameters)                                              \
	*(void **)&likwid->name = dlsym(likwid->handle, #name);                               \
	if (!likwid->name)                                                                    \
		return cm_diag_set(diag, -ENOEXEC, "%s has no " #name ": LIKWID 5 is needed", \
				   likwid->path);
	CM_LIKWID_CALLS(CM_LIKWID_LOAD)
#undef CM_LIKWID_LOAD
	*(void **)&likwid->HPMmode = dlsym(likwid->handle, "HPMmode");
	return 0;
}
