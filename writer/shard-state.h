/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far the joining of a run's ranks is: one line in the folder of its shards, so that a rank
 * that only adds its file need not read thousands of names.
 *
 * It is a hint that is only as old as the run's file: one that is missing, damaged, or about
 * another file than the one that is there now is -ENOENT, and everything is looked at.
 * Errors: negative errno. With the lock (writer/lock.h); reading also without.
 */
#ifndef CALLMARK_WRITER_SHARD_STATE_H
#define CALLMARK_WRITER_SHARD_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct cm_shard_state {
	int64_t n_joined;   /* ranks that have come, as far as counted */
	int64_t n_linked;   /* of those in the run's file */
	int64_t n_copied;   /* of those in base.h5 (writer/sibling.h) */
	int64_t n_finished; /* times that a node's last rank brought the file up to date */
	int64_t mpi_size;   /* 0: not known */
	bool keep_links;    /* one rank asked for it */
};

int cm_shard_state_read(const char *path, const char *run_id, struct cm_shard_state *ret_state);

/* About the file that now stands under path. */
int cm_shard_state_write(const char *path, const char *run_id, const struct cm_shard_state *state);

#endif
