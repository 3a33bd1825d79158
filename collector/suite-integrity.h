/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * integrity.json: which files belong together, with size and SHA-256 of each.
 *
 *	cm_integrity_add(&integrity, folder, "row.h5", &arena, &diag);
 *	cm_integrity_write(&integrity, "rows/0001/integrity.json", &diag);
 *	cm_integrity_read(&integrity, path, &arena, &diag);
 *	rc = cm_integrity_check_file(&integrity.files[i], folder, &ret_problem, &diag);
 *
 * It finds what was changed by accident or by whoever does not rewrite it as well; it is no
 * signature. Threads: one at a time. Errors: negative errno and a line in diag; -EINVAL: no such
 * file, damaged or not ours.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_INTEGRITY_H
#define CALLMARK_COLLECTOR_SUITE_INTEGRITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/arena.h"
#include "collector/sha256.h"

#define CM_INTEGRITY_NAME "integrity.json"
#define CM_INTEGRITY_MAX_FILES 400000

struct cm_integrity_file {
	const char *path; /* relative, of plain names */
	uint64_t n_bytes;
	char sha256[CM_SHA256_TEXT_BYTES];
};

struct cm_integrity {
	const char *run_id;
	const char *verdict; /* "" while there is none */
	bool is_complete;    /* false: of a suite that is running, or was killed */
	size_t n_rows;	     /* of the suite */
	size_t row;	     /* from 1; 0: of the suite itself */
	struct cm_integrity_file *files;
	size_t n_files, n_room;
};

/* Look at folder/path and add it. */
int cm_integrity_add(struct cm_integrity *integrity, const char *folder, const char *path,
		     struct cm_arena *arena, struct cm_diag *diag);

/* The file is complete or as it was before. */
int cm_integrity_write(const struct cm_integrity *integrity, const char *path,
		       struct cm_diag *diag);

int cm_integrity_read(struct cm_integrity *integrity, const char *path, struct cm_arena *arena,
		      struct cm_diag *diag);

const struct cm_integrity_file *cm_integrity_find(const struct cm_integrity *integrity,
						  const char *path);

/* 0: as it was; 1: *ret_problem is "missing", "is no regular file", "has another size", ... */
int cm_integrity_check_file(const struct cm_integrity_file *file, const char *folder,
			    const char **ret_problem, struct cm_diag *diag);

#endif
