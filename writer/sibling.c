/* SPDX-License-Identifier: BSD-3-Clause */
/* Hidden siblings of a run's file. */
#include "writer/sibling.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "writer/tempfile.h"
#include "writer/writer.h"

#define N_TRIES 100
#define N_RUN_CHARS 60

static int checked(int n, size_t n_bytes)
{
	return n < 0 || (size_t)n >= n_bytes ? -ENAMETOOLONG : 0;
}

int cm_sibling_path(const char *path, const char *suffix, char *buf, size_t n_bytes)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return checked(snprintf(buf, n_bytes, "%.*s.%s%s", (int)(name - path), path, name, suffix),
		       n_bytes);
}

static void run_name(const char *run_id, char *buf)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a: two ids never share a folder */
	size_t n = 0;

	for (const char *c = run_id; *c; c++) {
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
		if (n < N_RUN_CHARS)
			buf[n++] = strchr("0123456789-_.ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "abcdefghijklmnopqrstuvwxyz",
					  *c)
					   ? *c
					   : '_';
	}
	snprintf(buf + n, 18, "-%016llx", (unsigned long long)hash);
}

int cm_shards_folder(const char *path, const char *run_id, char *buf, size_t n_bytes)
{
	char suffix[N_RUN_CHARS + 32] = ".shards/";

	run_name(run_id, suffix + strlen(suffix));
	return cm_sibling_path(path, suffix, buf, n_bytes);
}

int cm_shards_sibling(const char *path, const char *run_id, const char *name, char *buf,
		      size_t n_bytes)
{
	char folder[PATH_MAX];
	int rc = cm_shards_folder(path, run_id, folder, sizeof(folder));

	return rc < 0 ? rc : checked(snprintf(buf, n_bytes, "%s/%s", folder, name), n_bytes);
}

int cm_shards_file(const char *path, const char *run_id, int64_t rank, char *buf, size_t n_bytes)
{
	char name[32];

	snprintf(name, sizeof(name), "rank%lld.h5", (long long)rank);
	return cm_shards_sibling(path, run_id, name, buf, n_bytes);
}

int cm_writer_shard_path(const char *path, const char *run_id, int64_t rank, int64_t pid, char *buf,
			 size_t n_bytes)
{
	char suffix[64];

	(void)run_id; /* the process id tells them apart */
	snprintf(suffix, sizeof(suffix), ".rank%lld-%lld.shard", (long long)rank, (long long)pid);
	return cm_sibling_path(path, suffix, buf, n_bytes);
}

/* Rename that never replaces, also where the file system cannot do that in one step. */
static int move(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to) == 0) {
		(void)unlink(from); /* a second name is untidy, not wrong */
		return 0;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (access(to, F_OK) == 0)
		return -EEXIST;
	return rename(from, to) < 0 ? -errno : 0;
}

static int make_folder(const char *path)
{
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int cm_shards_place(const char *shard, const char *path, const char *run_id, int64_t rank)
{
	char outer[PATH_MAX], folder[PATH_MAX], file[PATH_MAX];
	int rc = cm_sibling_path(path, ".shards", outer, sizeof(outer));

	if (rc == 0)
		rc = cm_shards_folder(path, run_id, folder, sizeof(folder));
	if (rc == 0)
		rc = cm_shards_file(path, run_id, rank, file, sizeof(file));
	/* Another process may remove the empty folder between our steps. */
	for (int i = 0; rc == 0 && i < N_TRIES; i++) {
		rc = make_folder(outer);
		if (rc == 0)
			rc = make_folder(folder);
		if (rc == 0)
			rc = move(shard, file);
		if (rc == 0)
			return cm_tempfile_sync_folder(file);
		if (rc != -ENOENT || access(shard, F_OK) < 0)
			break;
		rc = i + 1 < N_TRIES ? 0 : rc;
	}
	return rc;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* "rank<N>.h5", without padding, as cm_shards_file() makes them. */
static int parse_name(const char *name, int64_t *ret_rank)
{
	char again[64];
	long long rank;

	if (sscanf(name, "rank%lld", &rank) != 1 || rank < 0)
		return -EINVAL;
	snprintf(again, sizeof(again), "rank%lld.h5", rank);
	if (strcmp(again, name) != 0)
		return -EINVAL;
	*ret_rank = rank;
	return 0;
}

int cm_shards_list(const char *path, const char *run_id, int64_t **ret_ranks, size_t *ret_n)
{
	char folder[PATH_MAX];
	size_t n = 0, n_room = 0;
	int64_t *ranks = NULL, rank;
	struct dirent *entry;
	DIR *dir;
	int rc = cm_shards_folder(path, run_id, folder, sizeof(folder));

	if (rc < 0)
		return rc;
	dir = opendir(folder);
	if (!dir && errno != ENOENT)
		return -errno;
	while (dir && rc == 0 && (entry = readdir(dir))) {
		if (parse_name(entry->d_name, &rank) < 0)
			continue;
		if (n == n_room) {
			int64_t *more = reallocarray(ranks, n_room = 2 * n_room + 16, sizeof(rank));

			if (!more) {
				rc = -ENOMEM;
				break;
			}
			ranks = more;
		}
		ranks[n++] = rank;
	}
	if (dir)
		(void)closedir(dir); /* read only */
	if (rc < 0) {
		free(ranks);
		return rc;
	}
	if (n)
		qsort(ranks, n, sizeof(*ranks), compare);
	*ret_ranks = ranks;
	*ret_n = n;
	return 0;
}

static void remove_folders(const char *path, const char *run_id)
{
	char name[PATH_MAX];

	if (cm_shards_folder(path, run_id, name, sizeof(name)) == 0)
		(void)rmdir(name); /* others may have ranks in it */
	if (cm_sibling_path(path, ".shards", name, sizeof(name)) == 0)
		(void)rmdir(name);
}

void cm_shards_remove(const char *path, const char *run_id, const int64_t *ranks, size_t n)
{
	char name[PATH_MAX];

	/* What cannot be removed stays behind, hidden; the run's file is complete without it. */
	for (size_t i = 0; i < n; i++)
		if (cm_shards_file(path, run_id, ranks[i], name, sizeof(name)) == 0)
			(void)unlink(name);
	remove_folders(path, run_id);
}

void cm_shards_clear(const char *path, const char *run_id)
{
	static const char *const names[] = {CM_SHARDS_STATE, CM_SHARDS_BASE};
	char name[PATH_MAX];

	for (size_t i = 0; i < 2; i++)
		if (cm_shards_sibling(path, run_id, names[i], name, sizeof(name)) == 0)
			(void)unlink(name); /* as above */
	remove_folders(path, run_id);
}
