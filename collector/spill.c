/* SPDX-License-Identifier: BSD-3-Clause */
/* O_TMPFILE where the file system has it, else a name that is removed at once. */
#include "collector/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_in(const char *dir)
{
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (snprintf(path, sizeof(path), "%s/.callmark-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int cm_spill_open(struct cm_spill *spill, const char *dir, struct cm_diag *diag)
{
	const char *tmpdir = getenv("TMPDIR");
	const char *dirs[] = {dir, tmpdir && *tmpdir ? tmpdir : "/tmp"};
	int rc = 0;

	memset(spill, 0, sizeof(*spill));
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		spill->fd = open_in(dirs[i]);
		snprintf(spill->dir, sizeof(spill->dir), "%s", dirs[i]);
		if (spill->fd >= 0)
			return 0;
		rc = spill->fd;
	}
	spill->fd = -1;
	return cm_diag_set(diag, rc, "%s: cannot make a temporary file: %s", spill->dir,
			   strerror(-rc));
}

int cm_spill_append(struct cm_spill *spill, const void *data, size_t n_bytes, uint64_t *ret_off,
		    struct cm_diag *diag)
{
	size_t n_done = 0;
	int rc = 0;

	while (n_done < n_bytes) {
		ssize_t n = pwrite(spill->fd, (const char *)data + n_done, n_bytes - n_done,
				   (off_t)(spill->n_bytes + n_done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : -ENOSPC;
			return cm_diag_set(diag, rc, "%s: cannot write the temporary file: %s",
					   spill->dir, strerror(-rc));
		}
		n_done += (size_t)n;
	}
	*ret_off = spill->n_bytes;
	spill->n_bytes += n_bytes;
	return 0;
}

int cm_spill_read(struct cm_spill *spill, void *buf, size_t n_bytes, uint64_t off,
		  struct cm_diag *diag)
{
	size_t n_done = 0;
	int rc = 0;

	while (n_done < n_bytes) {
		ssize_t n = pread(spill->fd, (char *)buf + n_done, n_bytes - n_done,
				  (off_t)(off + n_done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			rc = n < 0 ? -errno : -EIO;
			return cm_diag_set(diag, rc, "%s: cannot read the temporary file: %s",
					   spill->dir, strerror(-rc));
		}
		n_done += (size_t)n;
	}
	return 0;
}

void cm_spill_release(struct cm_spill *spill, uint64_t off, uint64_t n_bytes)
{
	/* Only a courtesy to the disk: file systems without it keep the space until close. */
	(void)fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)off,
			(off_t)n_bytes);
}

void cm_spill_close(struct cm_spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	spill->fd = -1;
}
