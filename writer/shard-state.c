/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of numbers. */
#include "writer/shard-state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/sibling.h"

#define STATE_BYTES 256
#define STATE_END "end\n" /* a line that was not written whole does not have it */

/* What changes when another file takes the place of the one described. */
struct identity {
	uint64_t inode;
	int64_t n_bytes;
	int64_t seconds, ns; /* last change */
};

static int identify(const char *path, struct identity *ret)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	*ret = (struct identity){st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
	return 0;
}

static int read_line(const char *path, char *buf)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, STATE_BYTES - 1);
	(void)close(fd); /* opened for reading only */
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return 0;
}

int cm_shard_state_read(const char *path, const char *run_id, struct cm_shard_state *ret_state)
{
	char file[PATH_MAX], line[STATE_BYTES], end[8] = "";
	struct identity there = {0}, known;
	struct cm_shard_state state;
	int keep_links;

	if (identify(path, &there) < 0 ||
	    cm_shards_sibling(path, run_id, CM_SHARDS_STATE, file, sizeof(file)) < 0 ||
	    read_line(file, line) < 0)
		return -ENOENT;
	if (sscanf(line,
		   "1 %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d %" SCNu64
		   " %" SCNd64 " %" SCNd64 " %" SCNd64 " %7s",
		   &state.n_joined, &state.n_linked, &state.n_copied, &state.n_finished,
		   &state.mpi_size, &keep_links, &known.inode, &known.n_bytes, &known.seconds,
		   &known.ns, end) != 11 ||
	    end[0] != STATE_END[0] || end[2] != STATE_END[2])
		return -ENOENT;
	if (known.inode != there.inode || known.n_bytes != there.n_bytes ||
	    known.seconds != there.seconds || known.ns != there.ns || state.n_joined < 0 ||
	    state.n_linked < 0 || state.n_copied < 0 || state.n_finished < 0)
		return -ENOENT;
	state.keep_links = keep_links != 0;
	*ret_state = state;
	return 0;
}

int cm_shard_state_write(const char *path, const char *run_id, const struct cm_shard_state *state)
{
	char file[PATH_MAX], line[STATE_BYTES];
	struct identity there = {0};
	int fd, n, rc = identify(path, &there);

	if (rc == 0)
		rc = cm_shards_sibling(path, run_id, CM_SHARDS_STATE, file, sizeof(file));
	if (rc < 0)
		return rc;
	n = snprintf(line, sizeof(line),
		     "1 %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %d %" PRIu64
		     " %" PRId64 " %" PRId64 " %" PRId64 " " STATE_END,
		     state->n_joined, state->n_linked, state->n_copied, state->n_finished,
		     state->mpi_size, state->keep_links, there.inode, there.n_bytes, there.seconds,
		     there.ns);
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;
	rc = write(fd, line, (size_t)n) == n ? 0 : -EIO;
	(void)close(fd); /* what did not get there is a damaged line: a hint less */
	return rc;
}
