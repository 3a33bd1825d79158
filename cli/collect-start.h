/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start callmark-collect (collector/collect.h) and wait for it.
 *
 * It runs without our preload and without the launcher's MPI variables, its stdin and stdout are
 * /dev/null. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_COLLECT_START_H
#define CALLMARK_CLI_COLLECT_START_H

#include <stdbool.h>

#include "cli/supervise.h"

/*
 * options: NULL-terminated, at most CM_COLLECT_MAX_OPTIONS; folders: n_folders of them. Progress is
 * asked for when stderr is a terminal. Returns its exit status (enum cm_collect_exit), 128 + N when
 * signal N ended it, or a negative errno when it could not be started.
 */
#define CM_COLLECT_MAX_OPTIONS 8
int cm_collect_start(const struct cm_supervise *supervise, const char *path,
		     const char *const *options, const char *const *folders, size_t n_folders,
		     bool new_session);

#endif
