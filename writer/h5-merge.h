/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many ranks' files as one: by links, or by copy; and a look at what a name already holds.
 *
 * Errors: negative errno and a line in diag. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_MERGE_H
#define CALLMARK_WRITER_H5_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

/* What stands under a name. */
enum cm_present {
	CM_PRESENT_NOTHING, /* no file, or an empty one */
	CM_PRESENT_FOREIGN, /* something that is no profile: never to be replaced */
	CM_PRESENT_PROFILE, /* ours or scope-profiler's */
};

struct cm_present_rank {
	int64_t rank;
	bool is_link;
};

struct cm_presence {
	enum cm_present what;
	char *run_id;		       /* "" where the file has none; NULL without a profile */
	struct cm_present_rank *ranks; /* ascending */
	size_t n_ranks;
};

/* Free with cm_presence_fini(). -EACCES and the like when it cannot be looked at. */
int cm_presence_init(struct cm_presence *presence, const char *path, struct cm_diag *diag);
void cm_presence_fini(struct cm_presence *presence);
const struct cm_present_rank *cm_presence_find(const struct cm_presence *presence, int64_t rank);

/* One rank of the new file. */
struct cm_merge_part {
	int64_t rank;
	const char *path;  /* the file that has it as /rank<N> */
	const char *link;  /* the same, relative to the new file's folder: external link; or NULL */
	const char *group; /* its name there, where that is another than /rank<N>; or NULL */
};

/* mpi_size of the metadata of a file; 0 where it is not known. */
int cm_merge_mpi_size(const char *path, int64_t *ret_size, struct cm_diag *diag);

bool cm_merge_has_rank(const char *path, int64_t rank);

/* What the new file says about all of them. */
struct cm_merge_how {
	int64_t mpi_size;  /* where > 0: ranks below it that are not there are listed as missing */
	bool set_mpi_size; /* also in the metadata */
	bool drop_run_id;  /* the parts are of several runs */
};

/*
 * Write `path` anew, atomically, from n > 0 parts in ascending order of rank. The root and metadata
 * are those of the first.
 */
int cm_merge(const char *path, const struct cm_merge_part *parts, size_t n,
	     const struct cm_merge_how *how, struct cm_diag *diag);

#endif
