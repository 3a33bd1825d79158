/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cm_profile of one spool.
 *
 *	cm_profile_build(&profile, &reader, &trace, &map, &rank, &diag);    after pass 1
 *	cm_profile_finish(&profile, &trace);                after pass 2: the numbers
 *
 * Region i of the profile is spool region trace->called[i]; thread indices are the spool's, one
 * more at the end for calls whose thread the spool does not know. Everything is in the reader's
 * arena. Threads: one at a time.
 */
#ifndef CALLMARK_COLLECTOR_PROFILE_BUILD_H
#define CALLMARK_COLLECTOR_PROFILE_BUILD_H

#include "collector/profile.h"
#include "collector/rank.h"
#include "collector/trace.h"

/* -ENOMEM. */
int cm_profile_build(struct cm_profile *profile, struct cm_spool_reader *reader,
		     const struct cm_trace *trace, const struct cm_clock_map *map,
		     const struct cm_rank *rank, struct cm_diag *diag);

void cm_profile_finish(struct cm_profile *profile, struct cm_trace *trace);

/*
 * After build: where the regions' functions are written, and their call paths in words. progress:
 * say on a terminal how far that is. finish closes the rows. -ENOMEM.
 */
int cm_profile_add_paths(struct cm_profile *profile, struct cm_spool_reader *reader,
			 const struct cm_trace *trace, const struct cm_clock_map *map,
			 bool progress, struct cm_diag *diag);

/* Part of finish: the last row holds what a region's other ones do not. */
void cm_profile_close_paths(struct cm_profile_region *region);

/* Part of build, in its own file: sites, libraries and symbols of regions, never_called. */
int cm_profile_add_sites(struct cm_profile *profile, struct cm_spool_reader *reader,
			 const struct cm_trace *trace, struct cm_profile_region *regions);

#endif
