/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is complete or absent: written under a hidden sibling name, then renamed.
 *
 *	struct cm_tempfile temp;
 *	rc = cm_tempfile_open(&temp, "out/profiling_data.h5", diag);
 *	... write to temp.fd ...
 *	rc = cm_tempfile_commit(&temp, diag);      or cm_tempfile_discard(&temp)
 *
 * The sibling is `.<name>.<pid>-<n>.tmp`, made with O_EXCL and mode 0644 less the umask. Commit
 * syncs the data, renames and syncs the folder, so that after a power cut the name holds the old
 * file or the whole new one. Threads: one at a time for one struct. Errors: negative errno and a
 * line in diag.
 */
#ifndef CALLMARK_WRITER_TEMPFILE_H
#define CALLMARK_WRITER_TEMPFILE_H

#include <limits.h>

#include "preload/diag.h"

struct cm_tempfile {
	int fd; /* read and write; -1 when closed */
	char path[PATH_MAX];
	char final_path[PATH_MAX];
};

/* -ENAMETOOLONG, -EISDIR (the final name is a folder), and what open(2) says. */
int cm_tempfile_open(struct cm_tempfile *temp, const char *final_path, struct cm_diag *diag);

/* On failure the temporary file is gone and the final name is what it was. */
int cm_tempfile_commit(struct cm_tempfile *temp, struct cm_diag *diag);

/* Nothing happens after a commit or on a struct whose open failed. */
void cm_tempfile_discard(struct cm_tempfile *temp);

/* fsync the folder that holds `path`, so that a rename in it lasts. */
int cm_tempfile_sync_folder(const char *path);

#endif
