/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment of callmark-reader: what LIKWID needs, and nothing that disturbs it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/counters.h"
#include "preload/environment.h"

#define FILE_PATH "LIKWID_FILEPATH="
#define PRELOAD "LD_PRELOAD="

/* Names, or with a trailing '_' their beginnings. */
static const char *const wanted[] = {"LIKWID_", "HWLOC_", "PATH=", "LD_LIBRARY_PATH="};

/* Parts of the names of libraries that must not come along. */
static const char *const unwanted[] = {CM_PRELOAD_NAME, "liblikwidpin.so", "libasan.so"};

static bool is_wanted(const char *entry)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		if (!strncmp(entry, wanted[i], strlen(wanted[i])))
			return true;
	}
	return false;
}

static bool is_unwanted(const char *library, size_t n)
{
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(*unwanted); i++) {
		if (memmem(library, n, unwanted[i], strlen(unwanted[i])))
			return true;
	}
	return false;
}

/* LD_PRELOAD without some; "" when nothing is left. */
static char *filter_preload(struct cm_arena *arena, const char *entry)
{
	char *made = cm_arena_copy(arena, entry, strlen(entry)); /* it only gets shorter */
	size_t length = sizeof(PRELOAD) - 1;
	const char *p = entry + length;
	bool is_first = true;

	if (!made)
		return NULL;
	while (*p) {
		size_t n = strcspn(p, ": ");

		if (n && !is_unwanted(p, n)) {
			if (!is_first)
				made[length++] = ':';
			memcpy(made + length, p, n);
			length += n;
			is_first = false;
		}
		p += n;
		p += strspn(p, ": ");
	}
	made[is_first ? 0 : length] = '\0';
	return made;
}

/* LIKWID wrote the file from the program's folder, not from ours. */
static char *make_absolute(struct cm_spool_reader *reader, const char *entry)
{
	const char *path = entry + strlen(FILE_PATH);

	if (*path == '/' || !*reader->cwd)
		return cm_arena_copy(&reader->arena, entry, strlen(entry));
	return cm_arena_format(&reader->arena, FILE_PATH "%s/%s", reader->cwd, path);
}

int cm_counters_environment(struct cm_spool_reader *reader, char ***ret_envp)
{
	struct cm_arena *arena = &reader->arena;
	char **envp = cm_arena_array(arena, reader->n_env + 2, sizeof(*envp));
	const char *home = getenv("HOME");
	size_t n = 0;

	if (!envp)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_env; i++) {
		const char *entry = reader->env[i];

		if (!strncmp(entry, PRELOAD, strlen(PRELOAD)))
			envp[n] = filter_preload(arena, entry);
		else if (!strncmp(entry, FILE_PATH, strlen(FILE_PATH)))
			envp[n] = make_absolute(reader, entry);
		else if (is_wanted(entry))
			envp[n] = (char *)entry; /* execve() takes it as it is */
		else
			continue;
		if (!envp[n])
			return -ENOMEM;
		n += *envp[n] != '\0';
	}
	if (home) {
		envp[n] = cm_arena_format(arena, "HOME=%s", home);
		if (!envp[n])
			return -ENOMEM;
	}
	*ret_envp = envp;
	return 0;
}
