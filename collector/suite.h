/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A suite as it was declared: rows to be run one after another, each in a worker of its own. The
 * file it comes from is cli/suite-parse.c's business.
 *
 * A row's key is its case and its target, "CASE/TARGET"; no two rows share one. Both are letters,
 * digits and . _ + - with a letter or digit first, at most CM_SUITE_MAX_ID bytes: they become names
 * in HDF5 files and reports.
 *
 * Data only. Everything is borrowed from the arena.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_H
#define CALLMARK_COLLECTOR_SUITE_H

#include <stddef.h>

#include "collector/arena.h"
#include "collector/worker-run.h"

#define CM_SUITE_MAX_ID 100
#define CM_SUITE_MAX_ROWS 100000

struct cm_suite_row {
	const char *case_id;
	const char *target_id;
	const char *target_kind; /* "release", "development" or "current" */
	const char *planned;	 /* why it is never run; NULL: it is */
	struct cm_worker_row worker;
};

struct cm_suite {
	const char *name;
	const struct cm_suite_row *rows;
	size_t n_rows;
	const char *text; /* the file, n_text bytes as they are */
	size_t n_text;
	struct cm_arena arena;
};

#endif
