/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a profile that may be damaged, foreign or not there, for a command that reads it.
 *
 *	rc = cm_input_open(&results, path, &diag);      the guard is armed (cli/guard.h)
 *	... read ...
 *	cm_guard_disarm();
 *	if (rc < 0)
 *		cm_input_complain(path, rc, &diag);
 *	cm_input_close(results, path);
 *
 * Errors: those of cm_results_open. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_INPUT_H
#define CALLMARK_CLI_INPUT_H

#include "writer/results.h"

/* Leaves the guard armed also where it fails. */
int cm_input_open(struct cm_results **ret_results, const char *path, struct cm_diag *diag);

/* One line on stderr that names the file. */
void cm_input_complain(const char *path, int rc, const struct cm_diag *diag);

/* NULL is allowed. Flushes stdout first: the library may crash on a damaged file even now. */
void cm_input_close(struct cm_results *results, const char *path);

#endif
