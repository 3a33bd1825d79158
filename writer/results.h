/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading profiling_data.h5 back: ours, or one that scope-profiler wrote (then what is "ours" is
 * absent and computed from the traces where it can be).
 *
 *	cm_results_open(&results, "profiling_data.h5", &diag);
 *	for (i = 0; i < cm_results_n_ranks(results); i++) {
 *		rank = cm_results_rank(results, i);
 *		... rank->regions[k].calls ...
 *		cm_results_read_calls(results, i, k, first, n, starts, ends, threads, &diag);
 *	}
 *	cm_results_close(results);
 *
 * Ranks may stand in other files (external links); those are followed only below the file's own
 * folder, and a rank whose file is gone is one of the missing. Regions are in order of their
 *groups' names, ranks ascending.
 *
 * Hostile input: a truncated, foreign or nonsensical file is a negative errno and one clear line,
 * never a crash and never an unbounded allocation. HDF5 itself is not that strict: files in its
 *older format (scope-profiler's; ours have checksums) are first loaded in a forked child, in open.
 * Everything returned is owned by the results and
 * valid until close. Threads: one at a time.
 */
#ifndef CALLMARK_WRITER_RESULTS_H
#define CALLMARK_WRITER_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/profile.h"
#include "preload/diag.h"

struct cm_results;

struct cm_result_region {
	struct cm_profile_region stats; /* all fields; computed from the trace where absent */
	bool has_stats;			/* the file carried our attributes */
	uint64_t n_calls;		/* rows of start_times and end_times */
};

struct cm_result_rank {
	int64_t rank;
	const char *hostname; /* "" where absent; likewise below */
	const char *executable;
	const char *clock;
	int64_t pid;
	bool has_exit_status;
	int64_t exit_status;
	int64_t monotonic_to_realtime_ns;
	double overhead_ns_per_call; /* NaN where absent */
	uint64_t n_dropped;
	const struct cm_result_region *regions;
	size_t n_regions;
	const struct cm_profile_thread *threads;
	size_t n_threads;
	const char *const *command_line;
	size_t n_command_line;
	const char *const *never_called;
	size_t n_never_called;
	const char *const *notes;
	size_t n_notes;
	/* Hardware counters, as in struct cm_profile; checked: shapes agree, names are not NULL. */
	bool has_likwid;
	const char *likwid_cpu_name;
	const struct cm_meta *likwid_environment;
	size_t n_likwid_environment;
	const struct cm_profile_counters *counters; /* in order of their groups' names */
	size_t n_counters;
	const char *likwid_fallback; /* "" where absent */
	const struct cm_profile_skip *skips;
	size_t n_skips;
};

/*
 * The label of event i: its name where that occurs once in this group, else NAME:COUNTER, else
 * (no counter names) NAME#i. Key tables by labels, never by names. Into buf; returns buf.
 */
const char *cm_results_event_label(const struct cm_profile_counters *counters, size_t i, char *buf,
				   size_t n_bytes);

/* -ENOENT, -EACCES, -EINVAL (not HDF5, truncated, not this layout), -ENOMEM. */
int cm_results_open(struct cm_results **ret_results, const char *path, struct cm_diag *diag);
void cm_results_close(struct cm_results *results);

const struct cm_meta *cm_results_metadata(const struct cm_results *results, size_t *ret_n);
const char *cm_results_run_id(const struct cm_results *results); /* "" where absent */
/* callmark_version of the root: who wrote it; "" where absent (scope-profiler). */
const char *cm_results_version(const struct cm_results *results);

/* mpi_size of the metadata (1 where absent), and ranks the file says are missing. */
int64_t cm_results_mpi_size(const struct cm_results *results);
const int64_t *cm_results_missing_ranks(const struct cm_results *results, size_t *ret_n);

size_t cm_results_n_ranks(const struct cm_results *results);
const struct cm_result_rank *cm_results_rank(const struct cm_results *results, size_t idx);

/*
 * Rows first..first+n-1 of one region. Any of the arrays may be NULL. -ERANGE past the end.
 * threads is filled with rows of the rank's threads, or -1 where the file has none.
 */
int cm_results_read_calls(struct cm_results *results, size_t rank_idx, size_t region_idx,
			  uint64_t first, size_t n, int64_t *ret_starts, int64_t *ret_ends,
			  int32_t *ret_threads, struct cm_diag *diag);

#endif
