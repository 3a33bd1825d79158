/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Are the files of a row those that were declared? Looked at before anything is loaded.
 *
 *	rc = cm_worker_check_source(row, &check, identity, arena, &diag);
 *	rc = cm_worker_check_target(row, identity, arena, &diag);
 *	rc = cm_worker_check_again(&check, &diag);        just before loading
 *
 * Errors: -ESTALE and a line: it is another one, or cannot be looked at; -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_WORKER_CHECK_H
#define CALLMARK_COLLECTOR_WORKER_CHECK_H

#include <sys/stat.h>

#include "collector/worker-run.h"

struct cm_worker_check {
	const char *path; /* borrowed */
	struct stat st;	  /* of the object when its content was looked at */
	bool is_there;
};

/* The object and all declared files. An object that is not there and not declared is for load. */
int cm_worker_check_source(const struct cm_worker_row *row, struct cm_worker_check *check,
			   struct cm_worker_identity *identity, struct cm_arena *arena,
			   struct cm_diag *diag);

int cm_worker_check_target(const struct cm_worker_row *row, struct cm_worker_identity *identity,
			   struct cm_arena *arena, struct cm_diag *diag);

/* Nobody has touched the object meanwhile. */
int cm_worker_check_again(const struct cm_worker_check *check, struct cm_diag *diag);

#endif
