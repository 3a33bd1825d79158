/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomic replacement of a file. */
#include "writer/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_TRIES 1000

static int say(struct cm_diag *diag, const char *path, const char *what)
{
	int rc = -errno;

	return cm_diag_set(diag, rc, "%s: %s: %s", path, what, strerror(-rc));
}

/* The part of a path before its base name, which points into path. */
static size_t folder_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static int format_path(struct cm_tempfile *temp, unsigned n)
{
	size_t n_folder = folder_length(temp->final_path);
	const char *name = temp->final_path + n_folder;
	int rc = snprintf(temp->path, sizeof(temp->path), "%.*s.%.200s.%ld-%u.tmp", (int)n_folder,
			  temp->final_path, name, (long)getpid(), n);

	return rc < 0 || (size_t)rc >= sizeof(temp->path) ? -ENAMETOOLONG : 0;
}

int cm_tempfile_open(struct cm_tempfile *temp, const char *final_path, struct cm_diag *diag)
{
	static unsigned counter;
	struct stat st;
	int rc;

	temp->fd = -1;
	temp->path[0] = '\0';
	rc = snprintf(temp->final_path, sizeof(temp->final_path), "%s", final_path);
	if (rc < 0 || (size_t)rc >= sizeof(temp->final_path))
		return cm_diag_set(diag, -ENAMETOOLONG, "%s: the path is too long", final_path);
	if (!final_path[folder_length(final_path)] ||
	    (stat(final_path, &st) == 0 && S_ISDIR(st.st_mode)))
		return cm_diag_set(diag, -EISDIR, "%s: is a folder, not a file", final_path);
	for (unsigned i = 0; i < N_TRIES; i++) {
		if (format_path(temp, counter++) < 0)
			return cm_diag_set(diag, -ENAMETOOLONG, "%s: the path is too long",
					   final_path);
		temp->fd = open(temp->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (temp->fd >= 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return say(diag, final_path, "cannot write beside it");
}

int cm_tempfile_sync_folder(const char *path)
{
	char folder[PATH_MAX] = ".";
	size_t n = folder_length(path);
	int fd, rc = 0;

	if (n >= sizeof(folder))
		return -ENAMETOOLONG;
	if (n) {
		memcpy(folder, path, n);
		folder[n] = '\0';
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems cannot sync a folder (EINVAL); the rename is then as good as it gets.
	 */
	if (fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		rc = -errno;
	(void)close(fd); /* opened for reading only */
	return rc;
}

/* Until it is complete it is nobody else's; then it has the mode that any new file has. */
static mode_t find_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask); /* it cannot fail */
	return 0644 & ~mask;
}

int cm_tempfile_commit(struct cm_tempfile *temp, struct cm_diag *diag)
{
	int fd = temp->fd, rc = 0;

	/* A file system without modes is no reason to lose the file. */
	(void)fchmod(fd, find_mode());
	if (fsync(fd) < 0)
		rc = say(diag, temp->final_path, "cannot write to the disk");
	temp->fd = -1;
	if (close(fd) < 0 && rc == 0)
		rc = say(diag, temp->final_path, "cannot close");
	if (rc == 0 && rename(temp->path, temp->final_path) < 0)
		rc = say(diag, temp->final_path, "cannot rename the new file");
	if (rc < 0) {
		(void)unlink(temp->path); /* the error above is the one to tell */
		return rc;
	}
	rc = cm_tempfile_sync_folder(temp->final_path);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot sync its folder: %s", temp->final_path,
				   strerror(-rc));
	return 0;
}

void cm_tempfile_discard(struct cm_tempfile *temp)
{
	if (temp->fd < 0)
		return;
	(void)close(temp->fd);	  /* its content is not wanted */
	(void)unlink(temp->path); /* what cannot be removed stays hidden */
	temp->fd = -1;
}
