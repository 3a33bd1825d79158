/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's profile: what the collector found out and the writer stores.
 *
 * A contract header between collector/ (fills it) and writer/ (stores it). It holds everything but
 * the traces, which are streamed (writer/writer.h). Times are int64 nanoseconds on
 * CLOCK_MONOTONIC of the rank's node. All strings are NUL-terminated UTF-8 or arbitrary bytes (the
 * writer replaces invalid ones by U+FFFD). Ownership: the struct borrows everything; it is valid
 * until its maker says otherwise. No functions here: plain data.
 */
#ifndef CALLMARK_COLLECTOR_PROFILE_H
#define CALLMARK_COLLECTOR_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_PROFILE_N_BUCKETS 64

/* Between the frames of a call path, and the row of calls whose path is not known. */
#define CM_PROFILE_PATH_SEPARATOR " < "
#define CM_PROFILE_PATH_OTHER "(other)"

/* One attribute of /metadata: a string, an integer, or a list of strings. */
enum cm_meta_kind {
	CM_META_STRING,
	CM_META_INT,
	CM_META_STRINGS,
};

struct cm_meta {
	const char *name; /* as scope-profiler names it: "timestamp", "PATH", ... */
	enum cm_meta_kind kind;
	const char *string;
	int64_t integer;
	const char *const *strings;
	size_t n_strings;
};

struct cm_profile_thread {
	int64_t tid;
	const char *name;
	int64_t first_ns; /* first start seen; 0 with last_ns 0: nothing seen */
	int64_t last_ns;
	const char *cpus; /* list of CPUs seen, "0-1,5"; may be empty */
};

/* One region that was entered at least once. */
struct cm_profile_region {
	const char *tag;     /* the real name; '/' allowed */
	const char *library; /* base name of the defining object */
	const char *const *symbols;
	size_t n_symbols;
	uint64_t n_trace; /* records that will be streamed */
	uint64_t calls;	  /* exact: n_trace + untraced + open */
	int64_t total_ns; /* of the completed, timed calls */
	int64_t min_ns;
	int64_t max_ns;
	double sum_sq_ns2;
	int64_t tool_ns;
	uint64_t unwound;
	uint64_t skipped;
	uint64_t open;		 /* still running at the end; counted in calls, not in times */
	uint64_t dropped_events; /* records missing for another reason than a cap */
	uint64_t max_events;	 /* the cap; UINT64_MAX none, 0 trace=off */
	uint64_t histogram[CM_PROFILE_N_BUCKETS]; /* log2 ns, over all completed, timed calls */
	bool one_thread; /* all records are of `thread`: the threads dataset is constant */
	int32_t thread;
	const char *source_file; /* of its function; NULL: not known */
	int64_t source_lineno;
	bool has_paths; /* callers=N: from where it was entered */
	/* Rows, largest total first, CM_PROFILE_PATH_OTHER last; their calls sum up to `calls`. */
	size_t n_paths;
	const char *const *path_frames; /* innermost first, parted by CM_PROFILE_PATH_SEPARATOR */
	const uint64_t *path_calls;
	const int64_t *path_total_ns;
};

/* One place that could be intercepted: a row of the sites dataset. */
struct cm_profile_site {
	const char *rule; /* the rule as written */
	const char *symbol;
	const char *version;
	const char *object; /* the caller */
	const char *kind;   /* "jump_slot", "glob_dat", "dlsym", "entry", "trap" */
	const char *state;  /* "patched", "refused", "gone" */
	const char *reason;
};

/* What LIKWID counted for one tag in one event group: rank<N>/likwid/regions/<group name>. */
struct cm_profile_counters {
	const char *tag;
	int64_t group_id; /* index into LIKWID_EVENTS */
	const char *group_name;
	const char *source; /* "full_api", "marker_file" or "marker_api" */
	const char *const *event_names;
	const char *const *counter_names; /* n_events of them, or NULL where not known */
	const char *const *metric_names;
	size_t n_events;
	size_t n_metrics;
	size_t n_cpus; /* hardware threads that took part */
	const int64_t *cpus;
	const double *times; /* seconds */
	const int64_t *call_counts;
	const double *events;  /* [n_events][n_cpus]; NaN where LIKWID could not count */
	const double *metrics; /* [n_metrics][n_cpus] */
};

/* Attribute markers_skipped_<reason>. */
struct cm_profile_skip {
	const char *reason;
	int64_t n;
};

struct cm_profile {
	const char *run_id;
	const char *version; /* of callmark */
	int64_t rank;
	int64_t mpi_size; /* 1 without MPI, 0 not known */
	const struct cm_meta *metadata;
	size_t n_metadata;

	/* Attributes and datasets of rank<N>. */
	const char *hostname;
	int64_t pid;
	const char *executable;
	bool has_exit_status;
	int64_t exit_status;
	const char *clock; /* "tsc" or "monotonic" */
	int64_t monotonic_to_realtime_ns;
	double overhead_ns_per_call; /* calibrated; NaN where not known: attribute left out */
	uint64_t n_dropped;	     /* calls that were not timed and whose region is not known */
	const char *const *command_line;
	size_t n_command_line;
	const char *const *never_called; /* tags of regions with a patched site and no call */
	size_t n_never_called;
	const char *const *notes; /* degradations, one text each */
	size_t n_notes;

	const struct cm_profile_thread *threads;
	size_t n_threads;
	const struct cm_profile_region *regions; /* in order of first appearance */
	size_t n_regions;
	const struct cm_profile_site *sites;
	size_t n_sites;

	/* Hardware counters; read at commit time, so the collector may fill them while it streams.
	 */
	bool has_likwid;	     /* counters were collected: there is a likwid group */
	const char *likwid_cpu_name; /* as LIKWID calls the CPU; "" not known (ours) */
	const struct cm_meta *likwid_environment; /* every LIKWID_* variable, strings */
	size_t n_likwid_environment;
	const struct cm_profile_counters *counters;
	size_t n_counters;
	const char *likwid_fallback;	     /* why full_api did not answer; NULL or "": it did */
	const struct cm_profile_skip *skips; /* those that are not 0; also without has_likwid */
	size_t n_skips;
};

#endif
