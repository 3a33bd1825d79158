/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock map of a spool: from its sync points, and where a killed process left too few, from
 * this machine's own counter, if it is the same machine and the same boot.
 */
#ifndef CALLMARK_COLLECTOR_SPOOL_CLOCK_H
#define CALLMARK_COLLECTOR_SPOOL_CLOCK_H

#include "collector/clock.h"
#include "collector/spool-reader.h"

/* -ENOMEM. Any thread. */
int cm_spool_clock_init(struct cm_clock_map *map, const struct cm_spool_reader *reader);

#endif
