/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in other files: external links, which we follow ourselves, and shards that wait in the
 * folder of a run. Never out of the file's own folder.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-load-root.h"
#include "writer/sibling.h"

#define MAX_LINK_BYTES 8192

/* Not absolute, no "..": whatever symbolic links do is looked at after them. */
static bool is_inside(const char *file)
{
	const char *at = file;

	if (*file == '/' || !*file)
		return false;
	while (at) {
		if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
			return false;
		at = strchr(at, '/');
		if (at)
			at++;
	}
	return true;
}

/* The real path of the folder that holds `path`, without a '/' at the end. Malloc, or NULL. */
static char *real_folder(const char *path)
{
	char *real = realpath(path, NULL);

	if (real)
		*strrchr(real, '/') = '\0'; /* a real path is absolute */
	return real;
}

/* The real path of folder/file, if it is below that folder. */
static int resolve(const char *path, const char *file, char **ret_target)
{
	char *folder = real_folder(path), *joined = NULL, *target = NULL;
	int rc = -EINVAL;

	if (!folder || asprintf(&joined, "%s/%s", folder, file) < 0) {
		free(folder);
		return -ENOMEM;
	}
	target = realpath(joined, NULL);
	if (!target)
		rc = errno == ENOENT ? -ENOENT : -EINVAL;
	else if (strncmp(target, folder, strlen(folder)) == 0 && target[strlen(folder)] == '/')
		rc = 0;
	if (rc == 0) {
		*ret_target = target;
		target = NULL;
	}
	free(target);
	free(joined);
	free(folder);
	return rc;
}

int cm_load_link(hid_t file, const char *path, const char *name, char **ret_target,
		 char **ret_group)
{
	const char *target, *group;
	char buf[MAX_LINK_BYTES];
	H5L_info_t info;
	unsigned flags;
	int rc;

	if (H5Lget_info(file, name, &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_EXTERNAL ||
	    info.u.val_size > sizeof(buf) ||
	    H5Lget_val(file, name, buf, sizeof(buf), H5P_DEFAULT) < 0 ||
	    H5Lunpack_elink_val(buf, info.u.val_size, &flags, &target, &group) < 0)
		return -EINVAL;
	group += strspn(group, "/");
	if (!is_inside(target) || !*group || strchr(group, '/'))
		return -EINVAL;
	group = strdup(group);
	if (!group)
		return -ENOMEM;
	rc = resolve(path, target, ret_target);
	if (rc < 0)
		free((char *)group);
	else
		*ret_group = (char *)group;
	return rc;
}

int cm_load_waiting(const char *path, const char *run_id, int64_t **ret_ranks, size_t *ret_n)
{
	*ret_ranks = NULL;
	*ret_n = 0;
	return run_id[0] ? cm_shards_list(path, run_id, ret_ranks, ret_n) : 0;
}

int cm_load_shard(const char *path, const char *run_id, int64_t rank, char **ret_target)
{
	const char *slash = strrchr(path, '/');
	char file[PATH_MAX];
	int rc = cm_shards_file(path, run_id, rank, file, sizeof(file));

	return rc < 0 ? rc : resolve(path, file + (slash ? slash + 1 - path : 0), ret_target);
}
