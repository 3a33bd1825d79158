/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of any files as one file: `callmark merge` (writer/writer.h). */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-load-root.h"
#include "writer/h5-merge.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"
#include "writer/lock.h"
#include "writer/sibling.h"
#include "writer/writer.h"

#define LOCK_TIMEOUT_MS 60000

/* One rank, wherever it is. */
struct found {
	const char *file; /* as the user named it */
	char *path;	  /* real path of the file that holds it */
	char *group;	  /* its name there */
	int64_t rank;
};

struct merging {
	const char *path;
	const struct cm_writer_merge_options *options;
	struct cm_diag *diag;
	struct found *found;
	size_t n, n_room;
	int64_t mpi_size;
	char *run_id; /* of the first file */
	bool has_several_runs;
	bool has_own_path; /* path itself is one of the files */
	char *real_folder; /* of path, without '/' at the end */
};

static void merging_fini(struct merging *merging)
{
	for (size_t i = 0; i < merging->n; i++) {
		free(merging->found[i].path);
		free(merging->found[i].group);
	}
	free(merging->found);
	free(merging->run_id);
	free(merging->real_folder);
}

/* path and group are taken over, also on failure. */
static int add(struct merging *merging, const char *file, int64_t rank, char *path, char *group)
{
	int rc = path && group ? 0 : -ENOMEM;

	if (rc == 0 && merging->n == merging->n_room) {
		size_t n_room = 2 * merging->n_room + 64;
		struct found *more = reallocarray(merging->found, n_room, sizeof(*more));

		if (more) {
			merging->found = more;
			merging->n_room = n_room;
		} else {
			rc = -ENOMEM;
		}
	}
	if (rc == 0) {
		merging->found[merging->n++] = (struct found){file, path, group, rank};
		return 0;
	}
	free(path);
	free(group);
	return cm_diag_set(merging->diag, rc, "%s: out of memory", file);
}

static int add_present(struct merging *merging, const char *file, hid_t handle,
		       const struct cm_present_rank *rank)
{
	char name[32], *target = NULL, *group = NULL;
	int rc;

	snprintf(name, sizeof(name), CM_H5_RANK_PREFIX "%lld", (long long)rank->rank);
	if (!rank->is_link)
		return add(merging, file, rank->rank, realpath(file, NULL), strdup(name));
	rc = cm_load_link(handle, file, name, &target, &group);
	if (rc == -ENOENT)
		return 0; /* its file is gone: missing */
	if (rc < 0)
		return cm_diag_set(merging->diag, rc,
				   "%s: %s links to a file outside of its folder", file, name);
	return add(merging, file, rank->rank, target, group);
}

static int add_waiting(struct merging *merging, const char *file,
		       const struct cm_presence *presence)
{
	int64_t *ranks;
	size_t n;
	int rc = cm_load_waiting(file, presence->run_id, &ranks, &n);

	if (rc < 0)
		return cm_diag_set(merging->diag, rc, "%s: cannot read the folder of its ranks: %s",
				   file, strerror(-rc));
	for (size_t i = 0; i < n && rc == 0; i++) {
		char *target, *group;

		if (cm_presence_find(presence, ranks[i]) ||
		    cm_load_shard(file, presence->run_id, ranks[i], &target) < 0)
			continue;
		if (asprintf(&group, CM_H5_RANK_PREFIX "%lld", (long long)ranks[i]) < 0)
			group = NULL;
		rc = add(merging, file, ranks[i], target, group);
	}
	free(ranks);
	return rc;
}

static int note_run(struct merging *merging, const char *file, const char *run_id)
{
	int64_t mpi_size;
	int rc = cm_merge_mpi_size(file, &mpi_size, merging->diag);

	if (rc < 0)
		return rc;
	if (mpi_size > merging->mpi_size)
		merging->mpi_size = mpi_size;
	if (!merging->run_id) {
		merging->run_id = strdup(run_id);
		return merging->run_id ? 0 : -ENOMEM;
	}
	merging->has_several_runs |= !run_id[0] || strcmp(merging->run_id, run_id) != 0;
	return 0;
}

static int add_file(struct merging *merging, const char *file)
{
	struct cm_presence presence;
	size_t n_before = merging->n;
	hid_t handle = H5I_INVALID_HID;
	int rc = cm_presence_init(&presence, file, merging->diag);

	if (rc == 0 && presence.what != CM_PRESENT_PROFILE)
		rc = cm_diag_set(merging->diag, -EINVAL, "%s: %s", file,
				 presence.what == CM_PRESENT_NOTHING ? "no such file, or empty"
								     : "is not a profile");
	if (rc == 0)
		rc = note_run(merging, file, presence.run_id);
	if (rc == 0)
		rc = cm_h5_open_file(file, &handle, merging->diag);
	for (size_t i = 0; i < presence.n_ranks && rc == 0; i++)
		rc = add_present(merging, file, handle, &presence.ranks[i]);
	cm_h5_close_file(handle);
	if (rc == 0)
		rc = add_waiting(merging, file, &presence);
	if (rc == 0 && merging->n == n_before)
		rc = cm_diag_set(merging->diag, -EINVAL, "%s: holds no rank", file);
	cm_presence_fini(&presence);
	return rc;
}

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Ascending, each once. */
static int order(struct merging *merging)
{
	struct found *found = merging->found;

	/* The order of the files, and in each of its ranks: they were added like that. */
	for (size_t i = 0; i < merging->n && merging->options->renumber; i++)
		found[i].rank = (int64_t)i;
	qsort(found, merging->n, sizeof(*found), compare_found);
	for (size_t i = 1; i < merging->n; i++)
		if (found[i].rank == found[i - 1].rank)
			return cm_diag_set(
				merging->diag, -EEXIST,
				"rank %ld is in %s and in %s: give the ranks new numbers "
				"with --renumber",
				(long)found[i].rank, found[i - 1].file, found[i].file);
	return 0;
}

/* What a link in the new file says, or NULL: it is not below the new file's folder. */
static const char *link_to(const struct merging *merging, const struct found *found)
{
	size_t n = strlen(merging->real_folder);

	return strncmp(found->path, merging->real_folder, n) == 0 && found->path[n] == '/'
		       ? found->path + n + 1
		       : NULL;
}

static int make_parts(const struct merging *merging, struct cm_merge_part *parts)
{
	for (size_t i = 0; i < merging->n; i++) {
		const struct found *found = &merging->found[i];

		parts[i] = (struct cm_merge_part){
			.rank = found->rank, .path = found->path, .group = found->group};
		if (!merging->options->links)
			continue;
		parts[i].link = link_to(merging, found);
		if (!parts[i].link)
			return cm_diag_set(merging->diag, -EINVAL,
					   "%s: its rank %ld is in %s, which is not below the "
					   "folder of %s: no link to it would be followed",
					   found->file, (long)found->rank, found->path,
					   merging->path);
	}
	return 0;
}

static int write_merged(struct merging *merging)
{
	struct cm_merge_part *parts = calloc(merging->n, sizeof(*parts));
	int64_t n_needed = merging->found[merging->n - 1].rank + 1;
	struct cm_merge_how how = {
		.mpi_size = merging->options->renumber || n_needed > merging->mpi_size
				    ? n_needed
				    : merging->mpi_size,
		.set_mpi_size = true,
		.drop_run_id = merging->has_several_runs,
	};
	int rc = parts ? make_parts(merging, parts) : -ENOMEM;

	if (rc == 0)
		rc = cm_merge(merging->path, parts, merging->n, &how, merging->diag);
	free(parts);
	return rc;
}

/* The file itself was among the files, and is whole now: its shards are not needed any more. */
static void remove_shards(const struct merging *merging)
{
	int64_t *ranks;
	size_t n;

	if (!merging->has_own_path || merging->options->links || !merging->run_id[0] ||
	    cm_shards_list(merging->path, merging->run_id, &ranks, &n) < 0)
		return;
	cm_shards_remove(merging->path, merging->run_id, ranks, n);
	cm_shards_clear(merging->path, merging->run_id);
	free(ranks);
}

/* The folder that the new file will be in, and whether it is one of the files. */
static int look_at_path(struct merging *merging, const char *const *files, size_t n_files)
{
	const char *slash = strrchr(merging->path, '/');
	char *folder =
		slash ? strndup(merging->path, (size_t)(slash + 1 - merging->path)) : strdup(".");
	char *real = realpath(merging->path, NULL);
	struct cm_presence presence;
	int rc;

	merging->real_folder = folder ? realpath(folder, NULL) : NULL;
	free(folder);
	rc = merging->real_folder ? 0 : -errno;
	for (size_t i = 0; i < n_files && real; i++) {
		char *other = realpath(files[i], NULL);

		merging->has_own_path |= other && strcmp(real, other) == 0;
		free(other);
	}
	free(real);
	if (rc < 0)
		return cm_diag_set(merging->diag, rc, "%s: its folder: %s", merging->path,
				   strerror(-rc));
	if (merging->has_own_path && merging->options->links)
		return cm_diag_set(merging->diag, -EINVAL,
				   "%s: a file of links cannot be one of those it links to",
				   merging->path);
	rc = cm_presence_init(&presence, merging->path, merging->diag);
	if (rc == 0 && presence.what == CM_PRESENT_FOREIGN)
		rc = cm_diag_set(merging->diag, -EEXIST,
				 "%s: is not a profile and stays as it is; give another output or "
				 "remove it",
				 merging->path);
	cm_presence_fini(&presence);
	return rc;
}

int cm_writer_merge(const char *path, const char *const *files, size_t n_files,
		    const struct cm_writer_merge_options *options, size_t *ret_n_ranks,
		    struct cm_diag *diag)
{
	struct merging merging = {.path = path, .options = options, .diag = diag};
	struct cm_lock lock;
	int rc = cm_lock_take(&lock, path, LOCK_TIMEOUT_MS, diag);

	if (rc < 0)
		return rc;
	rc = look_at_path(&merging, files, n_files);
	for (size_t i = 0; i < n_files && rc == 0; i++)
		rc = add_file(&merging, files[i]);
	if (rc == 0)
		rc = order(&merging);
	if (rc == 0)
		rc = write_merged(&merging);
	if (rc == 0) {
		remove_shards(&merging);
		*ret_n_ranks = merging.n;
	}
	cm_lock_release(&lock);
	merging_fini(&merging);
	return rc < 0 ? cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc)) : 0;
}
