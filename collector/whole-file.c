/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/whole-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static long read_all(int fd, char *buf, size_t n_bytes)
{
	size_t n_done = 0;

	while (n_done < n_bytes) {
		ssize_t n = read(fd, buf + n_done, n_bytes - n_done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break; /* it has shrunk */
		n_done += (size_t)n;
	}
	return (long)n_done;
}

static int read_open(int fd, size_t max_bytes, struct cm_arena *arena, const char **ret_text,
		     size_t *ret_n)
{
	struct stat st;
	char *text;
	long n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if ((size_t)st.st_size > max_bytes)
		return -EFBIG;
	text = cm_arena_array(arena, (size_t)st.st_size + 1, 1);
	if (!text)
		return -ENOMEM;
	n = read_all(fd, text, (size_t)st.st_size);
	if (n < 0)
		return (int)n;
	*ret_text = text;
	*ret_n = (size_t)n;
	return 0;
}

int cm_whole_file_read(const char *path, size_t max_bytes, struct cm_arena *arena,
		       const char **ret_text, size_t *ret_n, struct cm_diag *diag)
{
	/* O_NONBLOCK: a planted fifo must not make us wait. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int rc = fd < 0 ? -errno : 0;

	if (rc == 0)
		rc = read_open(fd, max_bytes, arena, ret_text, ret_n);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	return 0;
}
