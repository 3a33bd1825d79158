/* SPDX-License-Identifier: BSD-3-Clause */
/* Make, lock, read and remove the folder of a run. */
#include "cli/run-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/liveness.h"
#include "collector/spool-run.h"

#define MAX_TRIES 100 /* a folder may be removed under our hands that often */

static int join(char *buf, size_t n_bytes, const char *folder, const char *name)
{
	int n = snprintf(buf, n_bytes, "%s/%s", folder, name);

	return n >= 0 && (size_t)n < n_bytes ? 0 : -ENAMETOOLONG;
}

static int write_zeros(int fd, uint32_t n)
{
	static const uint8_t zeros[4096];

	/* Written, not only sized: the preload maps the file, and a full disk would be SIGBUS. */
	while (n) {
		ssize_t done = write(fd, zeros, n < sizeof(zeros) ? n : sizeof(zeros));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		n -= (uint32_t)done;
	}
	return 0;
}

/*
 * Complete or not there at all: other `run`s of this id may be doing the same. Where the disk is
 * full it is empty, which is as good as a lock.
 */
static int create_matched(const char *folder, const char *path, uint32_t n_rules)
{
	char temporary[CM_SPOOL_PATH_BYTES + 64];
	int fd, rc;

	snprintf(temporary, sizeof(temporary), "%s/.matched-%d", folder, (int)getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	rc = write_zeros(fd, n_rules);
	if ((rc == -ENOSPC || rc == -EDQUOT) && !ftruncate(fd, 0))
		rc = 0;
	close(fd);
	if (!rc && link(temporary, path) && errno != EEXIST)
		rc = -errno;
	unlink(temporary);
	return rc;
}

static int try_open(struct cm_run_folder *folder, uint32_t n_rules, struct cm_diag *diag)
{
	char matched[CM_SPOOL_PATH_BYTES + 16], outputs[CM_SPOOL_PATH_BYTES + 16];
	struct stat st;
	int rc = cm_spool_make_run(folder->path, diag);

	if (rc < 0)
		return rc;
	rc = join(matched, sizeof(matched), folder->path, CM_MATCHED_NAME);
	if (!rc)
		rc = join(outputs, sizeof(outputs), folder->path, CM_OUTPUTS_NAME);
	if (!rc)
		rc = create_matched(folder->path, matched, n_rules);
	if (rc < 0)
		return rc;
	folder->matched_fd = open(matched, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (folder->matched_fd < 0 || flock(folder->matched_fd, LOCK_SH))
		return -errno;
	folder->outputs_fd =
		open(outputs, O_RDONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (folder->outputs_fd < 0 || fstat(folder->matched_fd, &st))
		return -errno;
	folder->has_matched = st.st_size == (off_t)n_rules;
	folder->is_full = !st.st_size;
	return st.st_nlink ? 0 : -ENOENT;
}

static void close_files(struct cm_run_folder *folder)
{
	if (folder->matched_fd >= 0)
		close(folder->matched_fd);
	if (folder->outputs_fd >= 0)
		close(folder->outputs_fd);
	folder->matched_fd = -1;
	folder->outputs_fd = -1;
}

int cm_run_folder_open(struct cm_run_folder *folder, const char *path, uint32_t n_rules,
		       struct cm_diag *diag)
{
	int rc = -ENOENT;

	memset(folder, 0, sizeof(*folder));
	folder->matched_fd = -1;
	folder->outputs_fd = -1;
	if (strlen(path) >= sizeof(folder->path))
		return cm_diag_set(diag, -ENAMETOOLONG, "%s: path too long", path);
	memcpy(folder->path, path, strlen(path) + 1);
	for (int i = 0; i < MAX_TRIES && rc == -ENOENT; i++) {
		close_files(folder);
		rc = try_open(folder, n_rules, diag);
	}
	if (rc < 0) {
		close_files(folder);
		return cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	}
	return 0;
}

bool cm_run_folder_is_last(const struct cm_run_folder *folder)
{
	return !flock(folder->matched_fd, LOCK_EX | LOCK_NB);
}

bool cm_run_folder_in_use(const char *path)
{
	char matched[CM_SPOOL_PATH_BYTES + 16];
	bool in_use;
	int fd;

	if (join(matched, sizeof(matched), path, CM_MATCHED_NAME))
		return false;
	fd = open(matched, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	in_use = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return in_use;
}

int cm_run_folder_read_matched(const struct cm_run_folder *folder, uint8_t *ret_bytes,
			       uint32_t n_rules)
{
	if (!folder->has_matched || pread(folder->matched_fd, ret_bytes, n_rules, 0) != n_rules)
		return -ENODATA;
	return 0;
}

bool cm_run_folder_is_process(const char *name, pid_t *ret_pid)
{
	uint64_t pid, start_ns;

	if (!cm_liveness_parse(name, &pid, &start_ns) || !pid || pid > INT32_MAX)
		return false;
	if (ret_pid)
		*ret_pid = (pid_t)pid;
	return true;
}

int cm_run_folder_n_spools(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += cm_run_folder_is_process(entry->d_name, NULL);
	if (dir)
		closedir(dir);
	return n;
}

/* Processes that ended while we held the lock could not remove what they left: the folder. */
static void remove_bare(const char *path)
{
	int fd = cm_spool_run_is_bare(path) ? cm_spool_run_lock(path) : -1;

	if (fd < 0)
		return;
	cm_spool_run_remove(path, true);
	close(fd);
}

void cm_run_folder_close(struct cm_run_folder *folder, bool remove)
{
	bool is_open = folder->matched_fd >= 0;

	if (is_open && remove)
		cm_spool_run_remove(folder->path, true);
	close_files(folder);
	if (is_open && remove)
		remove_bare(folder->path);
}
