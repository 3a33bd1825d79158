/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An output that is complete or not there: stdout, or a file that gets its name when it is whole.
 *
 *	struct cm_output output;
 *	cm_output_open(&output, path, &diag);      path NULL: stdout
 *	fprintf(output.out, ...);
 *	cm_output_commit(&output, &diag);          or cm_output_abort(&output)
 *
 * The file is nameless while it is written, where the file system can do that: nothing is left
 * behind, however the process ends. An existing one is replaced in one step; what is no regular
 * file (/dev/null, a pipe) is written to.
 * Errors: negative errno with one line in diag that names the file; -EIO where writing failed.
 * Threads: one at a time.
 */
#ifndef CALLMARK_CLI_OUTPUT_FILE_H
#define CALLMARK_CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "preload/diag.h"

struct cm_output {
	FILE *out;
	const char *path;
	char *target;	 /* what gets replaced: path with links followed; NULL: written directly */
	char *temporary; /* in the folder of target */
	bool is_nameless;
};

int cm_output_open(struct cm_output *output, const char *path, struct cm_diag *diag);

/* Both end the output. stdout is flushed, not closed, and its errors are left to main. */
int cm_output_commit(struct cm_output *output, struct cm_diag *diag);
void cm_output_abort(struct cm_output *output);

#endif
