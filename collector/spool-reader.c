/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing a spool, and the one way its files are read. */
#include "collector/spool-reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cm_spool_reader_open_file(const struct cm_spool_reader *reader, const char *name)
{
	struct stat st;
	int fd;

	/* O_NONBLOCK: a planted fifo must not make us wait. */
	fd = openat(reader->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	return fd;
}

long cm_spool_reader_pread(int fd, void *buf, size_t n_bytes, uint64_t off)
{
	size_t n_done = 0;

	if (off > INT64_MAX - n_bytes)
		return 0;
	while (n_done < n_bytes) {
		ssize_t n =
			pread(fd, (char *)buf + n_done, n_bytes - n_done, (off_t)(off + n_done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		n_done += (size_t)n;
	}
	return (long)n_done;
}

int cm_spool_reader_open(struct cm_spool_reader *reader, const char *path, struct cm_diag *diag)
{
	int rc;

	memset(reader, 0, sizeof(*reader));
	reader->path = path;
	reader->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (reader->dir_fd < 0) {
		rc = -errno;
		return cm_diag_set(diag, rc, "%s: cannot open the spool: %s", path, strerror(-rc));
	}
	rc = cm_spool_reader_read_items(reader, diag);
	if (rc >= 0)
		rc = cm_spool_reader_read_slots(reader, diag);
	if (rc < 0)
		cm_spool_reader_close(reader);
	return rc;
}

void cm_spool_reader_close(struct cm_spool_reader *reader)
{
	for (size_t i = 0; i < reader->n_slots; i++)
		free(reader->slots[i].open);
	reader->n_slots = 0;
	cm_arena_fini(&reader->arena);
	if (reader->dir_fd >= 0)
		close(reader->dir_fd);
	reader->dir_fd = -1;
}

const char *cm_spool_reader_getenv(void *ctx, const char *name)
{
	const struct cm_spool_reader *reader = ctx;
	size_t n = strlen(name);

	for (size_t i = 0; i < reader->n_env; i++) {
		if (strncmp(reader->env[i], name, n) == 0 && reader->env[i][n] == '=')
			return reader->env[i] + n + 1;
	}
	return NULL;
}
