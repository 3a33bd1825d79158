/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to writer/join*.c: what is there of a run, and writing its file from it.
 *
 * With the lock. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_WRITER_JOINING_H
#define CALLMARK_WRITER_JOINING_H

#include "writer/h5-merge.h"
#include "writer/shard-state.h"

/* Who joins what. */
struct cm_joining {
	const char *path;
	const char *run_id;
	struct cm_shard_state state; /* mpi_size and keep_links are always right */
	/* What cm_joining_look() has seen. */
	struct cm_presence main; /* under path */
	struct cm_presence base; /* ranks that were copied before others came */
	int64_t *shards;	 /* ranks that wait in the folder */
	size_t n_shards;
};

void cm_joining_reset(struct cm_joining *join);

/* Look at the name and the folder. A file that is no profile is an error for everyone. */
int cm_joining_look(struct cm_joining *join, struct cm_diag *diag);

/* Is what stands under the name of this run? */
bool cm_joining_is_same_run(const struct cm_joining *join);
bool cm_joining_is_shard(const struct cm_joining *join, int64_t rank);

/* Ranks that have been copied into one file: into the main one, or into the base. */
const struct cm_presence *cm_joining_copied(const struct cm_joining *join);
size_t cm_joining_n_copied(const struct cm_joining *join);

/* After another run's file was replaced, its links lead nowhere: its shards go too. */
void cm_joining_remove_other(const struct cm_joining *join);

/* Why the file is written. */
enum cm_joining_why {
	CM_JOINING_RANK,   /* one more rank */
	CM_JOINING_SO_FAR, /* the last rank that runs here; others may come */
	CM_JOINING_ALL,	   /* no more will come */
};

/* Is it time to copy what has come into one file? n: ranks that have come. */
bool cm_joining_is_copy_due(const struct cm_shard_state *state, enum cm_joining_why why, int64_t n);

/* Write the file anew from what was looked at, by links or by copy. -ENOENT: no rank is there. */
int cm_joining_write(struct cm_joining *join, enum cm_joining_why why, struct cm_diag *diag);

#endif
