/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call paths of the process: each one once, by region and addresses.
 *
 * Readers take no lock: a path is complete before it is linked, and never changes. Makers hold the
 * process's lock with signals blocked. The table lies in memory that a forked child finds zeroed:
 * it has none yet. Errors: where there is no room a call belongs to its region's "other" path, or
 * to none.
 */
#ifndef CALLMARK_PRELOAD_PATHS_H
#define CALLMARK_PRELOAD_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/spool.h"

#define CM_MAX_PATHS (1u << 20) /* a process; what can be indexed by callers.h */

struct cm_path {
	const struct cm_path *next;    /* of the same bucket */
	const struct cm_path *created; /* the one made after it */
	uint64_t hash;
	uint32_t index; /* as in the process file */
	uint32_t region;
	uint32_t n_frames;
	uint32_t flags; /* CM_PATH_* */
	uint32_t epoch;
	uint32_t reserved;
	uint64_t frames[];
};

struct cm_path_key {
	uint32_t region;
	uint32_t n_frames;
	uint32_t flags;
	const uint64_t *frames;
};

/* Room for the table. -ENOMEM. Init only, where a rule has callers=N. */
int cm_paths_init(void);

/* The path, or the region's "other" one where no more are made; NULL: not made yet. hook-safe. */
const struct cm_path *cm_path_find(const struct cm_path_key *key);

/* The same, made if need be, and in the process file. NULL: no room. Signals blocked. */
const struct cm_path *cm_path_make(const struct cm_path_key *key);

/* The first path of this process, or NULL; `created` leads to the others. Lock held. */
const struct cm_path *cm_paths_first(void);

/* From here on addresses may mean other code: paths of before stay apart. Sites lock held. */
void cm_paths_new_epoch(void);

/* No more paths are made, and those of before do not count any more: all is "other". Any thread. */
void cm_paths_stop(void);

/* A forked child where the kernel cannot wipe pages. */
void cm_paths_forget(void);

#endif
