/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one run into one file, in any order and at the same time (writer/writer.h).
 *
 * A rank moves its file to the run's folder of shards, which is what makes it one of the run, and
 * then, with the lock, counts itself. The run's file is written anew by every one of the first
 * ranks, later only when so many have come that all the writing together stays linear in their
 * number, and by the last one. What is in the folder but not yet in the file readers of ours find.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/joining.h"
#include "writer/lock.h"
#include "writer/sibling.h"
#include "writer/tempfile.h"
#include "writer/writer.h"

#define LOCK_TIMEOUT_MS 60000
#define N_ALWAYS_WRITTEN 64 /* ranks, each of which may write the file */
#define N_FINISHED 128	    /* nodes, each of which may bring it up to date */
#define MIN_GROWTH 8	    /* later it must have grown by one in so many */

static int say_taken(const struct cm_joining *join, int64_t rank, struct cm_diag *diag)
{
	return cm_diag_set(diag, -EEXIST, "%s: rank %ld of this run is there already", join->path,
			   (long)rank);
}

/* With the state: is the rank among those that were copied? */
static int check_copied(const struct cm_joining *join, int64_t rank, struct cm_diag *diag)
{
	char base[PATH_MAX];
	int rc;

	if (!join->state.n_copied)
		return 0;
	rc = cm_shards_sibling(join->path, join->run_id, CM_SHARDS_BASE, base, sizeof(base));
	if (rc < 0)
		return rc;
	return cm_merge_has_rank(base, rank) ? say_taken(join, rank, diag) : 0;
}

/* Close to the end ranks are counted by name: one may have died before it counted itself. */
static void count(struct cm_joining *join)
{
	struct cm_shard_state *state = &join->state;
	int64_t *ranks;
	size_t n;

	state->n_joined++;
	if (state->mpi_size <= 0 ||
	    state->n_joined < state->mpi_size - state->mpi_size / 64 - MIN_GROWTH ||
	    cm_shards_list(join->path, join->run_id, &ranks, &n) < 0)
		return;
	state->n_joined = (int64_t)n + state->n_copied;
	free(ranks);
}

static bool is_write_due(const struct cm_shard_state *state)
{
	int64_t n = state->n_joined;

	return n <= N_ALWAYS_WRITTEN || (state->mpi_size > 0 && n >= state->mpi_size) ||
	       n - state->n_linked >= state->n_linked / MIN_GROWTH;
}

/* Everything is looked at: is this rank in the file by its own doing, or by another's? */
static int check_present(const struct cm_joining *join, int64_t rank, struct cm_diag *diag)
{
	const struct cm_present_rank *present = cm_presence_find(cm_joining_copied(join), rank);

	if (present && !present->is_link && cm_joining_is_shard(join, rank))
		return say_taken(join, rank, diag);
	/* Whoever wrote the file meanwhile took ours along, unless ours still waits. */
	return present && !present->is_link;
}

/* Without a state everything is looked at; mpi_size and keep_links are this rank's own. */
static bool read_state(struct cm_joining *join)
{
	struct cm_shard_state state;

	if (cm_shard_state_read(join->path, join->run_id, &state) < 0)
		return false;
	state.keep_links |= join->state.keep_links;
	if (state.mpi_size <= 0)
		state.mpi_size = join->state.mpi_size;
	join->state = state;
	return true;
}

/* With the lock: 0 when the rank, placed in the folder, is in the file or counted. */
static int join_placed(struct cm_joining *join, int64_t rank, struct cm_diag *diag)
{
	int rc = 0;

	if (read_state(join)) {
		rc = check_copied(join, rank, diag);
		if (rc < 0)
			return rc;
		count(join);
		if (!is_write_due(&join->state)) {
			/* Without it the next rank looks at everything. */
			(void)cm_shard_state_write(join->path, join->run_id, &join->state);
			return 0;
		}
	}
	rc = cm_joining_look(join, diag);
	if (rc == 0)
		rc = check_present(join, rank, diag);
	return rc == 0 ? cm_joining_write(join, CM_JOINING_RANK, diag) : rc < 0 ? rc : 0;
}

/* Undo the placing of a rank that could not join: its file is where it was. */
static void take_back(const struct cm_joining *join, const char *placed, const char *shard)
{
	(void)rename(placed, shard); /* if not, the folder keeps it for cm_writer_finish() */
	cm_shards_remove(join->path, join->run_id, NULL, 0);
}

static int join_ranked(struct cm_joining *join, const char *shard, int64_t rank,
		       struct cm_diag *diag)
{
	char placed[PATH_MAX];
	struct cm_diag no_lock = {0};
	struct cm_lock lock;
	int rc = cm_shards_file(join->path, join->run_id, rank, placed, sizeof(placed));

	if (rc == 0)
		rc = cm_shards_place(shard, join->path, join->run_id, rank);
	if (rc == -EEXIST)
		return say_taken(join, rank, diag);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: cannot move %s to the folder of its ranks: %s",
				   join->path, shard, strerror(-rc));
	rc = cm_lock_take(&lock, join->path, LOCK_TIMEOUT_MS, &no_lock);
	if (rc == -ETIMEDOUT)
		return 0; /* in the folder it is safe: whoever writes next takes it along */
	if (rc < 0)
		(void)cm_diag_set(diag, rc, "%s", no_lock.text);
	else
		rc = join_placed(join, rank, diag);
	if (rc < 0)
		take_back(join, placed, shard);
	cm_lock_release(&lock);
	return rc;
}

static int join_serial(struct cm_joining *join, const char *shard, int64_t rank,
		       struct cm_diag *diag)
{
	struct cm_lock lock;
	int rc = cm_lock_take(&lock, join->path, LOCK_TIMEOUT_MS, diag);

	if (rc < 0)
		return rc;
	rc = cm_joining_look(join, diag);
	if (rc == 0 && cm_joining_is_same_run(join))
		rc = say_taken(join, rank, diag);
	if (rc == 0) {
		if (rename(shard, join->path) < 0) {
			rc = cm_diag_set(diag, -errno, "%s: cannot rename %s to it: %s", join->path,
					 shard, strerror(errno));
		} else {
			rc = cm_tempfile_sync_folder(join->path);
			cm_joining_remove_other(join);
		}
	}
	cm_lock_release(&lock);
	return rc;
}

/* Without a look where the state says enough: the folder knows whether the rank is there. */
static int check_before(struct cm_joining *join, int64_t rank, struct cm_diag *diag)
{
	struct cm_joining other = *join;
	int rc;

	if (join->state.mpi_size != 1 && read_state(&other))
		return 0;
	rc = cm_joining_look(join, diag);
	if (rc == 0 && cm_joining_is_same_run(join) && cm_presence_find(&join->main, rank))
		rc = say_taken(join, rank, diag);
	return rc;
}

int cm_writer_join(const char *shard, const char *path, const char *run_id, int64_t rank,
		   int64_t mpi_size, bool keep_links, struct cm_diag *diag)
{
	struct cm_joining join = {
		.path = path,
		.run_id = run_id,
		.state = {.mpi_size = mpi_size, .keep_links = keep_links},
	};
	int64_t ignored;
	bool is_serial;
	int rc = cm_merge_mpi_size(shard, &ignored, diag); /* it can be read */

	if (rc == 0)
		rc = check_before(&join, rank, diag);
	is_serial = mpi_size == 1 && !cm_joining_is_same_run(&join);
	if (rc == 0)
		rc = is_serial ? join_serial(&join, shard, rank, diag)
			       : join_ranked(&join, shard, rank, diag);
	cm_joining_reset(&join);
	return rc;
}

/* The first of the ranks that wait knows how many there should be. */
static int find_mpi_size(struct cm_joining *join, struct cm_diag *diag)
{
	char first[PATH_MAX];
	int rc = 0;

	if (join->state.mpi_size > 0)
		return 0;
	if (join->n_shards)
		rc = cm_shards_file(join->path, join->run_id, join->shards[0], first,
				    sizeof(first));
	else
		snprintf(first, sizeof(first), "%s", join->path);
	return rc < 0 ? rc : cm_merge_mpi_size(first, &join->state.mpi_size, diag);
}

/* Is there nothing that would be worth a look at thousands of ranks? */
static bool is_finished_so_far(struct cm_joining *join)
{
	struct cm_shard_state *state = &join->state;

	if (!read_state(join) || cm_joining_is_copy_due(state, CM_JOINING_SO_FAR, state->n_joined))
		return false;
	if (state->n_joined <= state->n_linked)
		return true;
	return state->n_finished++ >= N_FINISHED;
}

static int finish(struct cm_joining *join, enum cm_joining_why why, struct cm_diag *diag)
{
	int rc;

	if (why == CM_JOINING_SO_FAR && is_finished_so_far(join))
		return 0;
	(void)read_state(join); /* how many ranks, and whether by links */
	rc = cm_joining_look(join, diag);
	if (rc < 0)
		return rc;
	if (join->n_shards == 0) {
		if (cm_joining_copied(join) == &join->main)
			cm_shards_clear(join->path, join->run_id);
		if (cm_joining_is_same_run(join))
			return 0;
		return cm_diag_set(diag, -ENOENT, "%s: no rank of this run is there", join->path);
	}
	rc = find_mpi_size(join, diag);
	return rc < 0 ? rc : cm_joining_write(join, why, diag);
}

int cm_writer_finish(const char *path, const char *run_id, bool more_may_come, struct cm_diag *diag)
{
	struct cm_joining join = {.path = path, .run_id = run_id};
	struct cm_lock lock;
	int rc = cm_lock_take(&lock, path, LOCK_TIMEOUT_MS, diag);

	if (rc < 0)
		return rc;
	rc = finish(&join, more_may_come ? CM_JOINING_SO_FAR : CM_JOINING_ALL, diag);
	cm_lock_release(&lock);
	cm_joining_reset(&join);
	return rc;
}
