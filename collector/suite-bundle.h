/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The evidence of a row from its declaration and its outcome. Pure: nothing is run, read, written
 * or called back; the same input makes the same bundle.
 *
 *	rc = cm_suite_bundle_make(&bundle, &about, &row, &outcome, &arena, &diag);
 *	rc = cm_bundle_write(path, &bundle, &diag);
 *
 * Threads: any. Errors: -EINVAL, refused by cm_bundle_check(); -ENOMEM.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_BUNDLE_H
#define CALLMARK_COLLECTOR_SUITE_BUNDLE_H

#include "collector/arena.h"
#include "collector/suite.h"
#include "writer/bundle.h"

#define CM_UUID_BYTES 37 /* as text, with NUL */

/* What neither of them says. */
struct cm_suite_about {
	const char *suite;
	const char *run_id;
	const char *attempt_id; /* a new UUID for each attempt */
	size_t row_idx;
	const char *host;
	const char *started;
};

/*
 * outcome NULL: the row is planned to be unavailable. What the bundle points to is borrowed from
 * all arguments, or in the arena.
 */
int cm_suite_bundle_make(struct cm_bundle *bundle, const struct cm_suite_about *about,
			 const struct cm_suite_row *row, const struct cm_worker_outcome *outcome,
			 struct cm_arena *arena, struct cm_diag *diag);

/*
 * SHA-256 over what defines an observation: event, counter, CPU, unit, access mode, and whether
 * LIKWID_PERF_PID was set. Equal ids can be compared with one another. -ENOMEM, -EIO.
 */
int cm_suite_definition_id(const struct cm_bundle *bundle,
			   const struct cm_bundle_observation *observation, char *text,
			   struct cm_diag *diag);

/* A new random UUID as text. */
void cm_suite_uuid_make(char uuid[CM_UUID_BYTES]);

#endif
