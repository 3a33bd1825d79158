/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of one run into one file, in any order and at the same time (writer/writer.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/h5-merge.h"
#include "writer/lock.h"
#include "writer/sibling.h"
#include "writer/tempfile.h"
#include "writer/writer.h"

#define LOCK_TIMEOUT_MS 60000

/* Who joins what. */
struct joining {
	const char *path;
	const char *run_id;
	int64_t mpi_size; /* 0: not known */
	struct cm_presence presence;
	int64_t *shards; /* ranks that wait in the folder */
	size_t n_shards;
};

static void joining_reset(struct joining *join)
{
	cm_presence_fini(&join->presence);
	free(join->shards);
	join->shards = NULL;
	join->n_shards = 0;
}

static bool is_same_run(const struct joining *join)
{
	const char *run_id = join->presence.run_id;

	return run_id && run_id[0] && strcmp(run_id, join->run_id) == 0;
}

/* Look at the name and the folder. A file that is no profile is an error for everyone. */
static int look(struct joining *join, struct cm_diag *diag)
{
	int rc;

	joining_reset(join);
	rc = cm_presence_init(&join->presence, join->path, diag);
	if (rc < 0)
		return rc;
	if (join->presence.what == CM_PRESENT_FOREIGN)
		return cm_diag_set(diag, -EEXIST,
				   "%s: is not a profile and stays as it is; give another output "
				   "or remove it",
				   join->path);
	rc = cm_shards_list(join->path, join->run_id, &join->shards, &join->n_shards);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot read the folder of its ranks: %s",
				   join->path, strerror(-rc));
	return 0;
}

static int say_taken(const struct joining *join, int64_t rank, struct cm_diag *diag)
{
	return cm_diag_set(diag, -EEXIST, "%s: rank %ld of this run is there already", join->path,
			   (long)rank);
}

/* The joined shards, and the ranks that the file itself already has. Malloc; ascending. */
struct part_list {
	struct cm_merge_part *parts;
	char (*paths)[PATH_MAX];
	size_t n;
	bool has_own; /* some are in the file itself: only a copy can keep them */
};

static int compare_parts(const void *a, const void *b)
{
	const struct cm_merge_part *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

static void part_list_fini(struct part_list *list)
{
	free(list->parts);
	free(list->paths);
	*list = (struct part_list){0};
}

static bool is_shard(const struct joining *join, int64_t rank)
{
	for (size_t i = 0; i < join->n_shards; i++)
		if (join->shards[i] == rank)
			return true;
	return false;
}

static void add_own(const struct joining *join, struct part_list *list)
{
	for (size_t i = 0; i < join->presence.n_ranks; i++) {
		const struct cm_present_rank *rank = &join->presence.ranks[i];

		if (rank->is_link || is_shard(join, rank->rank))
			continue;
		list->parts[list->n++] = (struct cm_merge_part){rank->rank, join->path, NULL};
		list->has_own = true;
	}
}

static int part_list_init(struct part_list *list, const struct joining *join)
{
	const char *slash = strrchr(join->path, '/');
	size_t n_folder = slash ? (size_t)(slash + 1 - join->path) : 0;
	size_t n_own = is_same_run(join) ? join->presence.n_ranks : 0;
	int rc = 0;

	*list = (struct part_list){
		.parts = calloc(join->n_shards + n_own + 1, sizeof(*list->parts)),
		.paths = calloc(join->n_shards + 1, sizeof(*list->paths)),
	};
	if (!list->parts || !list->paths)
		rc = -ENOMEM;
	for (size_t i = 0; i < join->n_shards && rc == 0; i++) {
		rc = cm_shards_file(join->path, join->run_id, join->shards[i], list->paths[i],
				    sizeof(list->paths[i]));
		list->parts[list->n++] = (struct cm_merge_part){join->shards[i], list->paths[i],
								list->paths[i] + n_folder};
	}
	if (rc == 0 && n_own)
		add_own(join, list);
	if (rc < 0)
		part_list_fini(list);
	else
		qsort(list->parts, list->n, sizeof(*list->parts), compare_parts);
	return rc;
}

/* After another run's file was replaced, its links lead nowhere: its shards go too. */
static void remove_other_run(const struct joining *join)
{
	const char *run_id = join->presence.run_id;
	int64_t *ranks;
	size_t n;

	if (!run_id || !run_id[0] || is_same_run(join) ||
	    cm_shards_list(join->path, run_id, &ranks, &n) < 0)
		return;
	cm_shards_remove(join->path, run_id, ranks, n);
	free(ranks);
}

static int merge_by_copy(const struct joining *join, const struct part_list *list,
			 struct cm_diag *diag)
{
	struct cm_merge_part *parts = calloc(list->n, sizeof(*parts));
	int rc = parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < list->n && rc == 0; i++)
		parts[i] = (struct cm_merge_part){list->parts[i].rank, list->parts[i].path, NULL};
	if (rc == 0)
		rc = cm_merge(join->path, parts, list->n, join->mpi_size, diag);
	free(parts);
	if (rc == 0)
		cm_shards_remove(join->path, join->run_id, join->shards, join->n_shards);
	return rc;
}

static bool is_full_disk(int rc)
{
	return rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG;
}

/* Write the file anew from all that is there: by copy when nothing more is to come. */
static int write_all(struct joining *join, bool is_final, struct cm_diag *diag)
{
	struct part_list list;
	struct cm_diag why = {0};
	int rc = part_list_init(&list, join);

	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", join->path, strerror(-rc));
	if (join->mpi_size > 0 && list.n >= (uint64_t)join->mpi_size)
		is_final = true;
	rc = list.n ? -EAGAIN : -ENOENT;
	if (rc == -EAGAIN && (list.has_own || (is_final && list.n <= CM_WRITER_MAX_COPIED_RANKS)))
		rc = merge_by_copy(join, &list, &why);
	/* Links need next to no room: rather those than a rank that is not in the file. */
	if (rc == -EAGAIN || (is_full_disk(rc) && !list.has_own))
		rc = cm_merge(join->path, list.parts, list.n, join->mpi_size, &why);
	part_list_fini(&list);
	if (rc == -ENOENT)
		return cm_diag_set(diag, rc, "%s: no rank of this run is there", join->path);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s", why.text);
	remove_other_run(join);
	return 0;
}

/* With the lock: 0 when the rank, placed in the folder, is in the file. */
static int join_placed(struct joining *join, int64_t rank, struct cm_diag *diag)
{
	const struct cm_present_rank *present;
	int rc = look(join, diag);

	if (rc < 0)
		return rc;
	present = is_same_run(join) ? cm_presence_find(&join->presence, rank) : NULL;
	if (!present)
		return write_all(join, false, diag);
	/* Whoever wrote the file meanwhile took ours along, unless ours still waits. */
	if (!present->is_link && is_shard(join, rank))
		return say_taken(join, rank, diag);
	return 0;
}

/* Undo the placing of a rank that could not join: its file is where it was. */
static void take_back(const struct joining *join, const char *placed, const char *shard)
{
	(void)rename(placed, shard); /* if not, the folder keeps it for cm_writer_finish() */
	cm_shards_remove(join->path, join->run_id, NULL, 0);
}

static int join_ranked(struct joining *join, const char *shard, int64_t rank, struct cm_diag *diag)
{
	char placed[PATH_MAX];
	struct cm_lock lock;
	int rc = cm_shards_file(join->path, join->run_id, rank, placed, sizeof(placed));

	if (rc == 0)
		rc = cm_shards_place(shard, join->path, join->run_id, rank);
	if (rc == -EEXIST)
		return say_taken(join, rank, diag);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot move %s to the folder of its ranks: %s",
				   join->path, shard, strerror(-rc));
	rc = cm_lock_take(&lock, join->path, LOCK_TIMEOUT_MS, diag);
	if (rc == 0)
		rc = join_placed(join, rank, diag);
	if (rc < 0)
		take_back(join, placed, shard);
	cm_lock_release(&lock);
	return rc;
}

static int join_serial(struct joining *join, const char *shard, int64_t rank, struct cm_diag *diag)
{
	struct cm_lock lock;
	int rc = cm_lock_take(&lock, join->path, LOCK_TIMEOUT_MS, diag);

	if (rc < 0)
		return rc;
	rc = look(join, diag);
	if (rc == 0 && is_same_run(join))
		rc = say_taken(join, rank, diag);
	if (rc == 0) {
		if (rename(shard, join->path) < 0) {
			rc = cm_diag_set(diag, -errno, "%s: cannot rename %s to it: %s", join->path,
					 shard, strerror(errno));
		} else {
			rc = cm_tempfile_sync_folder(join->path);
			remove_other_run(join);
		}
	}
	cm_lock_release(&lock);
	return rc;
}

int cm_writer_join(const char *shard, const char *path, const char *run_id, int64_t rank,
		   int64_t mpi_size, struct cm_diag *diag)
{
	struct joining join = {.path = path, .run_id = run_id, .mpi_size = mpi_size};
	int64_t ignored;
	int rc = cm_merge_mpi_size(shard, &ignored, diag); /* it can be read */

	if (rc == 0)
		rc = look(&join, diag);
	if (rc == 0 && is_same_run(&join) && cm_presence_find(&join.presence, rank))
		rc = say_taken(&join, rank, diag);
	if (rc == 0)
		rc = mpi_size == 1 && !is_same_run(&join) ? join_serial(&join, shard, rank, diag)
							  : join_ranked(&join, shard, rank, diag);
	joining_reset(&join);
	return rc;
}

/* The first of the ranks that wait knows how many there should be. */
static int find_mpi_size(struct joining *join, struct cm_diag *diag)
{
	char first[PATH_MAX];
	int rc = 0;

	if (join->n_shards)
		rc = cm_shards_file(join->path, join->run_id, join->shards[0], first,
				    sizeof(first));
	else
		snprintf(first, sizeof(first), "%s", join->path);
	return rc < 0 ? rc : cm_merge_mpi_size(first, &join->mpi_size, diag);
}

static int finish(struct joining *join, struct cm_diag *diag)
{
	int rc = look(join, diag);

	if (rc < 0)
		return rc;
	if (join->n_shards == 0) {
		cm_shards_remove(join->path, join->run_id, NULL, 0);
		if (is_same_run(join))
			return 0;
		return cm_diag_set(diag, -ENOENT, "%s: no rank of this run is there", join->path);
	}
	rc = find_mpi_size(join, diag);
	return rc < 0 ? rc : write_all(join, true, diag);
}

int cm_writer_finish(const char *path, const char *run_id, struct cm_diag *diag)
{
	struct joining join = {.path = path, .run_id = run_id};
	struct cm_lock lock;
	int rc = cm_lock_take(&lock, path, LOCK_TIMEOUT_MS, diag);

	if (rc < 0)
		return rc;
	rc = finish(&join, diag);
	cm_lock_release(&lock);
	joining_reset(&join);
	return rc;
}
