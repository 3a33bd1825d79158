/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A regular file in one piece, for the small text files that LIKWID and callmark-reader leave.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_COLLECTOR_WHOLE_FILE_H
#define CALLMARK_COLLECTOR_WHOLE_FILE_H

#include <stddef.h>

#include "collector/arena.h"
#include "preload/diag.h"

/*
 * Its bytes, with a NUL behind them, in the arena. -EINVAL: no regular file; -EFBIG: more than
 * max_bytes; -ENOENT and others of open(2); -ENOMEM.
 */
int cm_whole_file_read(const char *path, size_t max_bytes, struct cm_arena *arena,
		       const char **ret_text, size_t *ret_n, struct cm_diag *diag);

#endif
