/* SPDX-License-Identifier: BSD-3-Clause */
/* flock on the file that `run` makes in it (cli/run-folder.h). */
#include "collector/spool-run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/liveness.h"
#include "collector/outputs.h"
#include "preload/spool-path.h"
#include "preload/spool.h"

#define MATCHED_NAME "matched"
#define SITES_NAME "sites"

void cm_spool_run_find(const char *path, char *ret_run_path)
{
	char *slash, *base;
	struct stat st;

	/* .../callmark-<uid>/<run id>/<process> */
	snprintf(ret_run_path, PATH_MAX, "%s", path);
	slash = strrchr(ret_run_path, '/');
	if (!slash || slash == ret_run_path)
		goto none;
	*slash = '\0';
	slash = strrchr(ret_run_path, '/');
	if (!slash || slash == ret_run_path)
		goto none;
	*slash = '\0';
	base = strrchr(ret_run_path, '/');
	if (!base || strncmp(base + 1, "callmark-", 9))
		goto none;
	*slash = '/';
	if (lstat(ret_run_path, &st) < 0 || cm_spool_check_owner(ret_run_path, NULL) < 0)
		goto none;
	return;
none:
	ret_run_path[0] = '\0';
}

static bool has_spools(const char *run_path)
{
	DIR *dir = opendir(run_path);
	struct dirent *entry;
	uint64_t pid, start_ns;
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = cm_liveness_parse(entry->d_name, &pid, &start_ns);
	if (dir)
		closedir(dir);
	return found;
}

static void name_matched(const char *run_path, char *buf, size_t n_bytes)
{
	snprintf(buf, n_bytes, "%s/" MATCHED_NAME, run_path);
}

int cm_spool_run_lock(const char *run_path)
{
	char matched[PATH_MAX + 16];
	int fd, rc;

	name_matched(run_path, matched, sizeof(matched));
	fd = open(matched, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	/* Not even for a moment shared: a `run` would take us for another one. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return fd;
}

bool cm_spool_run_is_bare(const char *run_path)
{
	char matched[PATH_MAX + 16];

	name_matched(run_path, matched, sizeof(matched));
	return access(matched, F_OK) == 0 && !has_spools(run_path);
}

/* LIKWID's marker files: read by now, or left by a `run` that was killed. */
static void remove_marker_files(const char *run_path)
{
	DIR *dir = opendir(run_path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, CM_SPOOL_MARKERS_PREFIX,
			     strlen(CM_SPOOL_MARKERS_PREFIX)))
			(void)unlinkat(dirfd(dir), entry->d_name,
				       0); /* keeps the folder, at worst */
	if (dir)
		closedir(dir);
}

/* Site files of a user without a cache (preload/site-file.h), and what a killed writer left. */
static void remove_site_files(const char *run_path)
{
	int run_fd = open(run_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int fd = run_fd < 0 ? -1
			    : openat(run_fd, SITES_NAME,
				     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		(void)unlinkat(fd, entry->d_name, 0); /* keeps the folder, at worst */
	if (dir) {
		closedir(dir);
		(void)unlinkat(run_fd, SITES_NAME, AT_REMOVEDIR);
	} else if (fd >= 0) {
		close(fd);
	}
	if (run_fd >= 0)
		close(run_fd);
}

void cm_spool_run_remove(const char *run_path, bool with_matched)
{
	char matched[PATH_MAX + 16];

	name_matched(run_path, matched, sizeof(matched));
	if (has_spools(run_path) || (!with_matched && access(matched, F_OK) == 0))
		return;
	cm_outputs_remove(run_path);
	remove_marker_files(run_path);
	remove_site_files(run_path);
	/* A process that makes its spool right now keeps the folder: rmdir fails, which is fine. */
	(void)unlink(matched);
	(void)rmdir(run_path);
}
