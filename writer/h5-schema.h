/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout of profiling_data.h5: every group, dataset and attribute, once, with its type.
 *
 * Store and load both expand these lists, so that they cannot differ. callmark-profile(5) is the
 * prose of it. Types: integers are int64 (the histogram uint64, thread indices int32, raw bytes
 * uint8), other numbers float64, texts variable-length UTF-8 strings.
 *
 * What scope-profiler's schema 1 has: the root's CM_H5_SCOPE_SCHEMA, metadata, rank<N>, regions,
 * start_times, end_times. All else is ours and no reader needs it.
 *
 * A macro header; no code.
 */
#ifndef CALLMARK_WRITER_H5_SCHEMA_H
#define CALLMARK_WRITER_H5_SCHEMA_H

#define CM_H5_SCHEMA_VERSION 1

/* Attributes of the root. */
#define CM_H5_SCOPE_SCHEMA "scope_profiler_schema" /* int64, 1 */
#define CM_H5_OUR_SCHEMA "callmark_schema"	   /* int64, 1 */
#define CM_H5_VERSION "callmark_version"	   /* string */
#define CM_H5_RUN_ID "run_id"			   /* string */
#define CM_H5_MISSING_RANKS "missing_ranks"	   /* int64[], may be empty */

/* /metadata: a group of attributes, named by the profile's list. */
#define CM_H5_METADATA "metadata"
#define CM_H5_MPI_SIZE "mpi_size" /* int64 */

/* /rank<N> */
#define CM_H5_RANK_PREFIX "rank"
#define CM_H5_REGIONS "regions"		  /* group: a group for each region */
#define CM_H5_THREADS "threads"		  /* group */
#define CM_H5_COMMAND_LINE "command_line" /* dataset, string[] */
#define CM_H5_NEVER_CALLED "never_called" /* dataset, string[] */
#define CM_H5_NOTES "notes"		  /* dataset, string[] */
#define CM_H5_SITES "sites"		  /* dataset, compound of the strings below */

/* Attributes of a rank: X(name in the file, field of struct cm_profile). */
#define CM_H5_RANK_STRINGS(X)       \
	X("hostname", hostname)     \
	X("executable", executable) \
	X("clock", clock)

#define CM_H5_RANK_INTEGERS(X)                                  \
	X("pid", pid)                                           \
	X("monotonic_to_realtime_ns", monotonic_to_realtime_ns) \
	X("dropped_events", n_dropped) /* calls not timed whose region is not known */

#define CM_H5_EXIT_STATUS "exit_status"	      /* int64; absent: not known */
#define CM_H5_OVERHEAD "overhead_ns_per_call" /* float64; absent: not known */

/* Members of a row of sites: X(field of struct cm_profile_site). */
#define CM_H5_SITE_MEMBERS(X) X(rule) X(symbol) X(version) X(object) X(kind) X(state) X(reason)

/* Datasets of rank<N>/threads, a row a thread: X(name, field of struct cm_profile_thread). */
#define CM_H5_THREAD_INTEGERS(X) \
	X("tid", tid)            \
	X("first_ns", first_ns)  \
	X("last_ns", last_ns)

#define CM_H5_THREAD_STRINGS(X) \
	X("name", name)         \
	X("cpus", cpus)

/* Datasets of rank<N>/regions/<group>. */
#define CM_H5_START_TIMES "start_times"	   /* int64[n] */
#define CM_H5_END_TIMES "end_times"	   /* int64[n] */
#define CM_H5_REGION_THREADS "threads"	   /* int32[n], rows of rank<N>/threads */
#define CM_H5_REGION_SYMBOLS "symbols"	   /* string[] */
#define CM_H5_REGION_HISTOGRAM "histogram" /* uint64[64] */

/* Attributes of a region: X(name, field of struct cm_profile_region). */
#define CM_H5_REGION_STRINGS(X) \
	X("tag", tag)           \
	X("library", library)

#define CM_H5_TAG "tag"
#define CM_H5_TAG_BYTES "tag_bytes" /* uint8[]; only where the tag is not valid UTF-8 */

#define CM_H5_REGION_INTEGERS(X)            \
	X("calls", calls)                   \
	X("total_ns", total_ns)             \
	X("min_ns", min_ns)                 \
	X("max_ns", max_ns)                 \
	X("tool_ns", tool_ns)               \
	X("unwound", unwound)               \
	X("skipped", skipped)               \
	X("open", open)                     \
	X("dropped_events", dropped_events) \
	X("max_events", max_events) /* the cap; -1: none; 0: trace=off */

#define CM_H5_CALLS "calls"
#define CM_H5_SUM_SQ "sum_sq_ns2" /* float64 */

/* Where the region's function is written; scope-profiler's names; absent: not known. */
#define CM_H5_SOURCE_FILE "source_file"	    /* string */
#define CM_H5_SOURCE_LINENO "source_lineno" /* int64 */

/* Group of a region with callers=N; datasets of it, a row a call path, CM_PROFILE_PATH_OTHER last.
 */
#define CM_H5_CALL_PATHS "call_paths"
#define CM_H5_PATH_FRAMES "frames"   /* string[], innermost first, between them " < " */
#define CM_H5_PATH_CALLS "calls"     /* uint64[] */
#define CM_H5_PATH_TOTALS "total_ns" /* int64[] */

/* Attributes of a rank about its hardware counters. */
#define CM_H5_FALLBACK "likwid_fallback"	/* string; absent: there was no fallback */
#define CM_H5_SKIPPED_PREFIX "markers_skipped_" /* int64; the reason follows */

/* rank<N>/likwid: the environment, each variable a string attribute of its own name, and... */
#define CM_H5_LIKWID "likwid"
#define CM_H5_LIKWID_VARIABLE "LIKWID_" /* how their names begin */
#define CM_H5_LIKWID_REGIONS "regions"	/* group: a group for each tag and event group */
#define CM_H5_NUM_REGIONS "num_regions" /* int64: how many */
#define CM_H5_CPU_NAME "cpu_name"	/* string; ours */

/* Attributes of rank<N>/likwid/regions/<group>: X(name, field of struct cm_profile_counters). */
#define CM_H5_COUNTERS_STRINGS(X)   \
	X("tag", tag)               \
	X("group_name", group_name) \
	X("source", source)

#define CM_H5_COUNTERS_INTEGERS(X) X("group_id", group_id)

/*
 * Lists of names: X(name, field, how many). Attributes, string[]. One of more than
 * CM_H5_PUT_MAX_STRINGS is cut there, and a dataset of the same name has all of it (ours).
 */
#define CM_H5_COUNTERS_LISTS(X)                     \
	X("event_names", event_names, n_events)     \
	X("counter_names", counter_names, n_events) \
	X("metric_names", metric_names, n_metrics)

/* Datasets: X(name, field), one element a hardware thread. */
#define CM_H5_COUNTERS_INTEGER_COLUMNS(X) \
	X("cpus", cpus)                   \
	X("call_counts", call_counts)

#define CM_H5_COUNTERS_REAL_COLUMNS(X) X("times", times) /* seconds */

/*
 * Datasets float64[rows][hardware threads]: X(name, field, how many rows, their names, how one
 * without a name is called: "event_0").
 */
#define CM_H5_COUNTERS_MATRICES(X)                          \
	X("events", events, n_events, event_names, "event") \
	X("metrics", metrics, n_metrics, metric_names, "metric")

/* Rows of either that are stored and loaded; no CPU counts a hundredth of it. */
#define CM_H5_MAX_ROWS 65536

#endif
