/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of a suite's evidence while it is written.
 *
 *	rc = cm_suite_folder_create(&folder, "out", &suite, run_id, &diag);
 *	rc = cm_suite_folder_add(&folder, &bundle, &diag);        for each row, in order
 *	rc = cm_suite_folder_seal(&folder, verdict, &diag);
 *	cm_suite_folder_fini(&folder);
 *
 *	out/suite.json               the declaration, byte by byte
 *	out/suite.h5                 external links to all rows
 *	out/rows/0001/row.h5         writer/bundle.h
 *	out/rows/0001/integrity.json of row.h5
 *	out/integrity.json           of all of the above
 *
 * Each step is one rename, of what has been synced before: of out/ with suite.json, suite.h5 and an
 * integrity.json that says "not complete"; of rows/0001/ with its two files; at the end of the
 * integrity.json that says "complete". Killed anywhere, a row is there with its integrity.json, or
 * it is not there; what was being written has a name with a dot in front.
 *
 * Threads: one at a time (HDF5). Errors: negative errno and a line in diag; -EEXIST: the
 * destination is there, whatever it is.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_FOLDER_H
#define CALLMARK_COLLECTOR_SUITE_FOLDER_H

#include <limits.h>

#include "collector/suite-integrity.h"
#include "collector/suite.h"
#include "writer/bundle.h"

#define CM_SUITE_JSON_NAME "suite.json"
#define CM_SUITE_H5_NAME "suite.h5"
#define CM_SUITE_ROWS_NAME "rows"
#define CM_SUITE_ROW_H5_NAME "row.h5"
#define CM_SUITE_ROW_NAME_BYTES 32

struct cm_suite_folder {
	char path[PATH_MAX / 2];
	struct cm_integrity integrity;
	struct cm_arena arena;
};

int cm_suite_folder_create(struct cm_suite_folder *folder, const char *path,
			   const struct cm_suite *suite, const char *run_id, struct cm_diag *diag);
int cm_suite_folder_add(struct cm_suite_folder *folder, const struct cm_bundle *bundle,
			struct cm_diag *diag);
int cm_suite_folder_seal(struct cm_suite_folder *folder, const char *verdict, struct cm_diag *diag);
void cm_suite_folder_fini(struct cm_suite_folder *folder);

/* "0001" for row_idx 0. */
void cm_suite_row_name(size_t row_idx, char name[CM_SUITE_ROW_NAME_BYTES]);

/* "rows/0001/row.h5" and the like, in the arena; NULL: no memory. */
char *cm_suite_row_path(size_t row_idx, const char *file, struct cm_arena *arena);

/* ".0001.tmp": the row while it is written. */
void cm_suite_row_temporary(size_t row_idx, char name[CM_SUITE_ROW_NAME_BYTES]);

#endif
