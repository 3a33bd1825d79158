/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of one spool, from the richest source that answers:
 *
 *	full_api     callmark-reader, another process: event and counter names, metrics
 *	marker_file  LIKWID's marker file, read by us: values, events without names
 *	marker_api   what the process noted just before it closed its markers: one CPU
 *
 *	rc = cm_counters_start(&counters, &reader, &diag);     callmark-reader begins, if it is
 *needed
 *	... stream the traces ...
 *	rc = cm_counters_finish(counters, &profile, is_shown, &diag);    waits, fills the profile
 *	cm_counters_free(counters);
 *
 * Neither fails because counters cannot be had: then profile->likwid_fallback says why, and so does
 * one line on stderr ("callmark: ..."). A result that is complete counts, whatever became of its
 * reader. The marker file stays: likwid-perfctr reads it after us.
 *
 * The reader is the program CALLMARK_READER names, else callmark-reader beside this executable. It
 * runs with the LIKWID_* and HWLOC_* variables of the profiled process, its PATH, LD_LIBRARY_PATH
 * and LD_PRELOAD (without our preload, liblikwidpin and libasan), and our HOME, where LIKWID looks
 * for the user's own groups.
 *
 * Threads: one at a time. Errors: -ENOMEM only.
 */
#ifndef CALLMARK_COLLECTOR_COUNTERS_H
#define CALLMARK_COLLECTOR_COUNTERS_H

#include <stdbool.h>

#include "collector/profile.h"
#include "collector/spool-reader.h"

struct cm_counters;

/* The reader is borrowed until free; all results are in its arena. */
int cm_counters_start(struct cm_counters **ret_counters, struct cm_spool_reader *reader,
		      struct cm_diag *diag);

/* is_shown: a terminal may show that we wait. */
int cm_counters_finish(struct cm_counters *counters, struct cm_profile *profile, bool is_shown,
		       struct cm_diag *diag);

/* Ends what still runs. NULL is allowed. */
void cm_counters_free(struct cm_counters *counters);

/*
 * What the spool's state says about counters that will never come, for the profile's notes; NULL
 * where there is nothing to say. In the reader's arena; *ret_rc is -ENOMEM where memory is short.
 */
const char *cm_counters_note(struct cm_spool_reader *reader, int *ret_rc);

/* Calls without a marker, by reason; also where no counters were collected. */
int cm_counters_add_skips(struct cm_profile *profile, struct cm_spool_reader *reader);

/* What the reader runs with, in counters-environment.c. In the arena, NULL at the end. */
int cm_counters_environment(struct cm_spool_reader *reader, char ***ret_envp);

#endif
