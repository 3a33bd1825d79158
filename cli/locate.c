/* SPDX-License-Identifier: BSD-3-Clause */
/* Find the preload and the programs that work for us. */
#include "cli/locate.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/worker-run.h"
#include "preload/environment.h"

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#endif

/* CM_LIBDIR and CM_LIBEXECDIR come from meson: relative to the prefix as a rule, or absolute. */
static const char *const preload_folders[] = {
	"../preload",	      "../" CM_LIBDIR "/callmark", "../lib/" MULTIARCH "/callmark",
	"../lib64/callmark",  "../lib/callmark",	   CM_PREFIX "/" CM_LIBDIR "/callmark",
	CM_LIBDIR "/callmark"};

static const char *const collect_folders[] = {
	"../collector",	   "../" CM_LIBEXECDIR "/callmark",	    "../libexec/callmark",
	"../lib/callmark", CM_PREFIX "/" CM_LIBEXECDIR "/callmark", CM_LIBEXECDIR "/callmark"};

static const char *const names[] = {[CM_PART_PRELOAD] = CM_PRELOAD_NAME,
				    [CM_PART_COLLECT] = CM_COLLECT_NAME,
				    [CM_PART_READER] = CM_READER_NAME,
				    [CM_PART_SITES] = CM_SITES_NAME,
				    [CM_PART_WORKER] = CM_WORKER_NAME};

#define N_PRELOAD_FOLDERS (sizeof(preload_folders) / sizeof(preload_folders[0]))
#define N_COLLECT_FOLDERS (sizeof(collect_folders) / sizeof(collect_folders[0]))

/* Is it there? Absolute folders stand for themselves, the others start at the executable's. */
static int try_folder(const char *bin, const char *folder, const char *name, int mode, char *real)
{
	char path[PATH_MAX];
	int n;

	n = folder[0] == '/' ? snprintf(path, sizeof(path), "%s/%s", folder, name)
			     : snprintf(path, sizeof(path), "%s/%s/%s", bin, folder, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	return realpath(path, real) && !access(real, mode) ? 0 : -ENOENT;
}

int cm_locate_from(const char *bin, enum cm_part part, char *buf, size_t n_bytes,
		   struct cm_diag *diag)
{
	bool is_preload = part == CM_PART_PRELOAD;
	const char *const *folders = is_preload ? preload_folders : collect_folders;
	size_t n_folders = is_preload ? N_PRELOAD_FOLDERS : N_COLLECT_FOLDERS;
	const char *name = names[part];
	char real[PATH_MAX];

	for (size_t i = 0; i < n_folders; i++) {
		if (try_folder(bin, folders[i], name, is_preload ? R_OK : X_OK, real))
			continue;
		if (strlen(real) >= n_bytes)
			return cm_diag_set(diag, -ENAMETOOLONG, "%s: path too long", real);
		memcpy(buf, real, strlen(real) + 1);
		return 0;
	}
	return cm_diag_set(diag, -ENOENT,
			   "%s is neither in %s/%s nor in %s/%s: callmark is not completely "
			   "built or installed",
			   name, bin, folders[0], bin, folders[1]);
}

int cm_locate(enum cm_part part, char *buf, size_t n_bytes, struct cm_diag *diag)
{
	char bin[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", bin, sizeof(bin));
	char *slash;

	if (n < 0)
		return cm_diag_set(diag, -errno, "/proc/self/exe: %s", strerror(errno));
	if ((size_t)n >= sizeof(bin))
		return -ENAMETOOLONG;
	bin[n] = '\0';
	slash = strrchr(bin, '/');
	if (slash)
		*slash = '\0';
	return cm_locate_from(bin, part, buf, n_bytes, diag);
}
