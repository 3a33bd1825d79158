/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of callmark-reader in its guarded child (reader-guard.h).
 *
 * Errors: negative errno and a line in report->diag; or the process ends.
 */
#ifndef CALLMARK_COLLECTOR_READER_CHECK_H
#define CALLMARK_COLLECTOR_READER_CHECK_H

#include "collector/reader-guard.h"

/* --check: could markers be opened here? ctx: a struct cm_reader_perfmon from the environment. */
int cm_reader_check(void *ctx, struct cm_reader_report *report);

#endif
