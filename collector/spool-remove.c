/* SPDX-License-Identifier: BSD-3-Clause */
/* flock on the folder itself: it vanishes with its holder. */
#include "collector/spool-remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "preload/spool.h"

#define DONE_NAME "done"
#define PROCESS_NAME "process"
#define WAIT_STEP_NS 50000000L
#define MAX_WAITS 12000 /* ten minutes: the other one may have a large trace to write */

int cm_spool_lock(const char *path, struct cm_diag *diag)
{
	const struct timespec step = {.tv_nsec = WAIT_STEP_NS};
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), rc;
	struct stat st;

	if (fd < 0) {
		rc = -errno;
		return cm_diag_set(diag, rc, "%s: cannot open the spool: %s", path, strerror(-rc));
	}
	for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || i == MAX_WAITS) {
			close(fd);
			return cm_diag_set(diag, -EBUSY, "%s: another collector has it", path);
		}
		(void)nanosleep(&step, NULL); /* cut short by a signal: asked again sooner */
	}
	if (fstat(fd, &st) == 0 && st.st_nlink == 0) {
		close(fd);
		return cm_diag_set(diag, -ENOENT, "%s: collected meanwhile", path);
	}
	return fd;
}

bool cm_spool_is_done(int dir_fd)
{
	return faccessat(dir_fd, DONE_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool cm_spool_is_unborn(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;
	bool is_unborn = dir != NULL;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && is_unborn && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		is_unborn = !strcmp(entry->d_name, PROCESS_NAME) &&
			    fstatat(dir_fd, PROCESS_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISREG(st.st_mode) &&
			    st.st_size < (off_t)sizeof(struct cm_spool_process);
	}
	if (dir)
		closedir(dir);
	return is_unborn;
}

int cm_spool_set_done(int dir_fd)
{
	int fd = openat(dir_fd, DONE_NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int cm_spool_remove(int dir_fd, const char *path)
{
	int fd = dup(dir_fd), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    !strcmp(entry->d_name, DONE_NAME))
			continue;
		if (unlinkat(dir_fd, entry->d_name, 0) < 0 && errno != ENOENT)
			rc = -errno;
	}
	closedir(dir);
	if (rc == 0 && unlinkat(dir_fd, DONE_NAME, 0) < 0 && errno != ENOENT)
		rc = -errno;
	if (rc == 0 && rmdir(path) < 0 && errno != ENOENT)
		rc = -errno;
	return rc;
}
