/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that `callmark run` is to start: where it is, and whether it can be profiled.
 *
 * Threads: one at a time. Errors as described.
 */
#ifndef CALLMARK_CLI_RUN_PROGRAM_H
#define CALLMARK_CLI_RUN_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "preload/diag.h"

struct cm_program {
	char path[PATH_MAX];	      /* what is executed */
	char interpreter[PATH_MAX];   /* of a script, else "" */
	bool is_text;		      /* no ELF file and no #!: /bin/sh runs it, as execvp does */
	char asan[64];		      /* its libasan.so, which must be loaded first; "" */
	char obstacle[CM_DIAG_BYTES]; /* why it cannot be profiled; "" where it can */
};

/*
 * Find name as execvp does (in PATH unless it holds a slash) and look into the file; of a script,
 * into its interpreter. Where a file cannot be read, nothing is held against it.
 * -ENOENT, -ENOTDIR: not found (exit status 127); -EACCES and others: not executable (126).
 */
int cm_program_find(struct cm_program *program, const char *name, struct cm_diag *diag);

#endif
