/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The attributes of /metadata, named as scope-profiler names them: what the spool says of the
 * process, and facts of this machine (only when it is the one the process ran on).
 *
 * Threads: one at a time. The list and its strings are in the reader's arena, or borrowed from it.
 */
#ifndef CALLMARK_COLLECTOR_METADATA_H
#define CALLMARK_COLLECTOR_METADATA_H

#include <stddef.h>

#include "collector/profile.h"
#include "collector/rank.h"
#include "collector/spool-reader.h"

/* -ENOMEM. */
int cm_metadata_make(struct cm_spool_reader *reader, const struct cm_rank *rank,
		     const struct cm_meta **ret_metadata, size_t *ret_n);

#endif
