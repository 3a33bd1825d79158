/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a suite's folder what was written? The reading side of suite-folder.h.
 *
 *	rc = cm_suite_check(&check, "out", &diag);
 *	... check.findings, check.tally ...
 *	cm_suite_check_fini(&check);
 *
 * Every file that integrity.json names is there with its size and SHA-256, no other file is, every
 * row is evidence that does not contradict itself (cm_bundle_check(), definition ids), and the
 * verdict is that of the rows. Of a suite that was killed, the rows that are there are held against
 * their own integrity.json; rows after the last of them are absent, and that is no finding.
 *
 * Threads: one at a time (HDF5). Errors: negative errno and a line in diag, only where the folder
 * cannot be looked at: all else is a finding.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_CHECK_H
#define CALLMARK_COLLECTOR_SUITE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/arena.h"
#include "collector/suite-verdict.h"
#include "preload/diag.h"

struct cm_suite_finding {
	const char *path; /* relative to the folder */
	const char *what; /* "missing", "has another content", "does not belong here", ... */
};

struct cm_suite_check {
	const struct cm_suite_finding *findings; /* [n_findings] */
	size_t n_findings, n_room;
	bool is_complete; /* the run came to its end */
	const char *run_id;
	const char *verdict;  /* as written; "" where the run did not end */
	size_t n_rows;	      /* of the suite */
	size_t n_found;	      /* rows that are there, the first ones */
	size_t n_files;	      /* as written */
	const char *leftover; /* of a row that was being written; NULL */
	struct cm_suite_tally tally;
	struct cm_arena arena;
};

/* The check needs fini whatever is returned. */
int cm_suite_check(struct cm_suite_check *check, const char *path, struct cm_diag *diag);
void cm_suite_check_fini(struct cm_suite_check *check);

#endif
