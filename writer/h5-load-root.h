/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading a whole file into struct cm_results: the root, then its ranks wherever they are.
 * Errors: negative errno and a line in diag; the caller frees the results. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_LOAD_ROOT_H
#define CALLMARK_WRITER_H5_LOAD_ROOT_H

#include "writer/h5-load.h"

/* results->path is set, all else zero. */
int cm_load_root(struct cm_results *results, struct cm_diag *diag);

/*
 * Before it, for a file without checksums: load it in a child process, because HDF5 can crash on
 * it. -EINVAL when it did. The results stay as they are.
 */
int cm_load_try(struct cm_results *results, struct cm_diag *diag);

/*
 * Where an external link of `path` leads: *ret_target (malloc) is a real path below path's own
 * folder, *ret_group the object's name in it (malloc). -ENOENT: the file is not there. -EINVAL: it
 * leads out of the folder, or to something that is no object right under a root.
 */
int cm_load_link(hid_t file, const char *path, const char *name, char **ret_target,
		 char **ret_group);

/*
 * Ranks of this run whose files wait beside `path` to be linked (writer/sibling.h), ascending;
 * malloc, may be NULL with n 0.
 */
int cm_load_waiting(const char *path, const char *run_id, int64_t **ret_ranks, size_t *ret_n);

/* The file of one of them, as of a link. */
int cm_load_shard(const char *path, const char *run_id, int64_t rank, char **ret_target);

#endif
