/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the hidden files and folders beside a run's file (lock, shards), and what is in them.
 *
 *	out/profiling_data.h5
 *	out/.profiling_data.h5.lock
 *	out/.profiling_data.h5.rank3-4711.shard          one rank's file before it joins
 *	out/.profiling_data.h5.shards/<run>/rank3.h5     and after
 *	out/.profiling_data.h5.shards/<run>/base.h5      ranks that were copied before others came
 *	out/.profiling_data.h5.shards/<run>/state        writer/shard-state.h
 *
 * <run> is the run id in characters that a file name may have, and a hash of it. No HDF5 here.
 * Errors: negative errno. Any thread.
 */
#ifndef CALLMARK_WRITER_SIBLING_H
#define CALLMARK_WRITER_SIBLING_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* "<folder>/.<name><suffix>". -ENAMETOOLONG. */
int cm_sibling_path(const char *path, const char *suffix, char *buf, size_t n_bytes);

/* The folder of a run's joined shards, whether it exists or not. */
int cm_shards_folder(const char *path, const char *run_id, char *buf, size_t n_bytes);

/* The joined shard of one rank. */
int cm_shards_file(const char *path, const char *run_id, int64_t rank, char *buf, size_t n_bytes);

/* Another file in that folder. */
#define CM_SHARDS_BASE "base.h5"
#define CM_SHARDS_STATE "state"
int cm_shards_sibling(const char *path, const char *run_id, const char *name, char *buf,
		      size_t n_bytes);

/*
 * Move a file to the joined shard of its rank, making the folders. -EEXIST when that rank is
 * there.
 */
int cm_shards_place(const char *shard, const char *path, const char *run_id, int64_t rank);

/* Ranks that have joined, ascending: malloc, may be NULL with n 0. No folder: none. */
int cm_shards_list(const char *path, const char *run_id, int64_t **ret_ranks, size_t *ret_n);

/* Remove these ranks' joined shards, and the folders that are empty then. */
void cm_shards_remove(const char *path, const char *run_id, const int64_t *ranks, size_t n);

/* Remove state and base, which a file without links does not need, and the empty folders. */
void cm_shards_clear(const char *path, const char *run_id);

#endif
