/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callmark/results.h - read profiling_data.h5
 *
 * SYNOPSIS
 *
 *	#include <callmark/results.h>
 *	cc program.c $(pkg-config --cflags --libs callmark)
 *
 * DESCRIPTION
 *
 * What callmark(1) writes, and scope-profiler's files of the same layout (callmark-profile(5)), as
 * plain C data: ranks, regions with exact statistics, every call's times, and the hardware counters
 * that LIKWID collected. Everything but the calls is in memory once the file is open.
 *
 * Every name here begins with callmark_results_ or CALLMARK_RESULTS_. The library exports nothing
 * else. Structures are handed out by pointer only: later versions may append members, and programs
 * compiled against this header go on working.
 *
 * OWNERSHIP. All that is returned, texts and arrays included, belongs to the results and is valid
 * until callmark_results_close(); it is never to be changed or freed. Pointers to texts are never
 * NULL; arrays of 0 elements may be.
 *
 * UNITS. Members end in their unit. Times of calls are int64 nanoseconds on CLOCK_MONOTONIC of the
 * node the rank ran on: differences are durations, and adding monotonic_to_realtime_ns gives
 * nanoseconds since 1970. The counters' times_s are LIKWID's, in seconds.
 *
 * TEXTS are NUL-terminated and UTF-8, but for tags, which have the program's own bytes.
 *
 * ERRORS. A function that can fail returns 0 or a negative errno. It also fills the caller's
 * `error` buffer of error_bytes with one line (what, where, no newline), cut where it is too short;
 * NULL and 0 are allowed. Out-parameters are untouched then. Functions that look something up
 * return NULL where there is none. Files are treated as hostile: a truncated, foreign or
 * nonsensical one is an error, never a crash.
 *
 * THREADS. The library uses HDF5, which in its usual build is not safe for threads: one thread at a
 * time in the whole process calls this library or HDF5. It puts HDF5's settings back after each
 * call, so that a program that uses HDF5 itself is not disturbed; it must be the same HDF5 library.
 * To open a file in HDF5's older format (scope-profiler's), which HDF5 may crash on if it is
 * damaged, the library first tries it in a forked child, for which SIGCHLD is sent.
 *
 * EXAMPLE
 *
 *	#include <inttypes.h>
 *	#include <stdio.h>
 *	#include <callmark/results.h>
 *
 *	static void print_counters(const struct callmark_results_likwid *likwid)
 *	{
 *		for (size_t e = 0; e < likwid->n_events; e++)
 *			for (size_t t = 0; t < likwid->n_cpus; t++)
 *				printf("%s %s cpu %" PRId64 " %s = %.17g\n", likwid->tag,
 *				       likwid->group_name, likwid->cpus[t], likwid->event_labels[e],
 *				       likwid->events[e * likwid->n_cpus + t]);
 *	}
 *
 *	int main(int argc, char **argv)
 *	{
 *		const char *path = argc > 1 ? argv[1] : "profiling_data.h5";
 *		struct callmark_results *results;
 *		const int64_t *ranks;
 *		char error[512];
 *		size_t n_ranks;
 *
 *		if (callmark_results_open(path, &results, error, sizeof(error)) < 0) {
 *			fprintf(stderr, "%s\n", error);
 *			return 1;
 *		}
 *		n_ranks = callmark_results_ranks(results, &ranks);
 *		for (size_t r = 0; r < n_ranks; r++) {
 *			const struct callmark_results_rank *rank =
 *				callmark_results_rank(results, ranks[r]);
 *
 *			for (size_t i = 0; i < rank->n_regions; i++) {
 *				const struct callmark_results_region *region =
 *					callmark_results_region(results, ranks[r], i);
 *
 *				printf("rank %" PRId64 " %s: %" PRIu64 " calls, %" PRId64 " ns\n",
 *				       rank->rank, region->tag, region->calls, region->total_ns);
 *			}
 *			for (size_t i = 0; i < rank->n_likwid; i++)
 *				print_counters(callmark_results_likwid(results, ranks[r], i));
 *		}
 *		callmark_results_close(results);
 *		return 0;
 *	}
 *
 * SEE ALSO
 *
 * callmark(1), callmark-profile(5)
 */
#ifndef CALLMARK_RESULTS_H
#define CALLMARK_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CALLMARK_RESULTS_N_BUCKETS 64

/* An open file. */
struct callmark_results;

enum callmark_results_kind {
	CALLMARK_RESULTS_STRING,
	CALLMARK_RESULTS_INT,
	CALLMARK_RESULTS_STRINGS,
};

/* One attribute of the file's /metadata: "timestamp", "hostname", "PATH", "modules", ... */
struct callmark_results_metadata {
	const char *name;
	enum callmark_results_kind kind;
	const char *string;	    /* of that kind, else "" */
	int64_t integer;	    /* of that kind, else 0 */
	const char *const *strings; /* [n_strings] of that kind */
	size_t n_strings;
};

struct callmark_results_rank {
	int64_t rank;
	const char *hostname;	/* "" where the file does not say; likewise below */
	const char *executable; /* path */
	const char *clock;	/* "tsc" or "monotonic" */
	int64_t pid;
	bool has_exit_status; /* false: the process did not exit, or nobody knows */
	int64_t exit_status;
	int64_t monotonic_to_realtime_ns;
	double overhead_ns_per_call;	 /* calibrated cost of recording; NaN where not known */
	uint64_t dropped_events;	 /* calls not timed whose region is not known */
	const char *const *command_line; /* [n_command_line] */
	size_t n_command_line;
	const char *const *never_called; /* [n_never_called] tags of regions never entered */
	size_t n_never_called;
	const char *const *notes; /* [n_notes] what did not work as well as it could */
	size_t n_notes;
	size_t n_threads; /* for callmark_results_thread() */
	size_t n_regions; /* for callmark_results_region() */

	bool has_likwid;		     /* hardware counters were collected */
	size_t n_likwid;		     /* for callmark_results_likwid() */
	const char *likwid_cpu_name;	     /* as LIKWID calls the CPU */
	const char *likwid_fallback;	     /* why not all could be read; "" where it could */
	const char *const *likwid_variables; /* [n_likwid_variables] names, "LIKWID_EVENTS", ... */
	const char *const *likwid_values;    /* [n_likwid_variables] */
	size_t n_likwid_variables;
	const char *const *skip_reasons; /* [n_skips] why calls have no counters */
	const int64_t *skip_counts;	 /* [n_skips] how many */
	size_t n_skips;
};

struct callmark_results_thread {
	int64_t tid;
	const char *name;
	int64_t first_ns; /* first start and last end seen; both 0: none */
	int64_t last_ns;
	const char *cpus; /* list of CPUs seen, "0-1,5" */
};

/*
 * One region of one rank. The statistics are exact, also where the trace was capped; of a file that
 * has none (scope-profiler's) they are computed from the calls, and has_statistics is false.
 * total_ns, min_ns, max_ns, sum_sq_ns2 and the histogram are of the completed calls.
 */
struct callmark_results_region {
	const char *tag;	    /* the name, any bytes, may have '/' in it */
	const char *library;	    /* base name of the object that defines the function */
	const char *const *symbols; /* [n_symbols] functions counted here */
	size_t n_symbols;
	bool has_statistics;
	uint64_t calls;	   /* all of them */
	uint64_t n_traced; /* rows for callmark_results_read_calls() */
	int64_t total_ns;
	int64_t min_ns;
	int64_t max_ns;
	double sum_sq_ns2;	   /* sum of the squares of the durations */
	int64_t tool_ns;	   /* callmark's own work in total_ns */
	uint64_t unwound;	   /* calls left by an exception, cancellation or thread exit */
	uint64_t skipped;	   /* calls left by longjmp */
	uint64_t open;		   /* calls still running at the end: in calls, in nothing else */
	uint64_t dropped_events;   /* rows missing for another reason than the cap */
	uint64_t max_events;	   /* the cap; UINT64_MAX none, 0 no trace */
	const uint64_t *histogram; /* [CALLMARK_RESULTS_N_BUCKETS] calls of 2^b to 2^(b+1) ns */
	const char *source_file;   /* where its function is written; "" not known */
	int64_t source_lineno;
	/*
	 * From where it was entered, with callers=N: frames, innermost first, between them " < ".
	 * The calls sum up to `calls`; what has no path of its own is "(other)", the last one.
	 */
	bool has_call_paths;
	size_t n_call_paths;
	const char *const *call_path_frames; /* [n_call_paths] */
	const uint64_t *call_path_calls;     /* [n_call_paths] */
	const int64_t *call_path_total_ns;   /* [n_call_paths] of the completed calls */
};

/*
 * What LIKWID counted for one tag in one event group on one rank. Arrays of two dimensions have a
 * row a name and a column a hardware thread: events[e * n_cpus + t]. NaN: LIKWID could not count.
 */
struct callmark_results_likwid {
	const char *tag;
	int64_t group_id;	    /* place in LIKWID_EVENTS */
	const char *group_name;	    /* "FLOPS_DP" */
	const char *source;	    /* "full_api", "marker_file" or "marker_api"; "" not known */
	size_t n_cpus;		    /* hardware threads that took part */
	const int64_t *cpus;	    /* [n_cpus] their numbers */
	const double *times_s;	    /* [n_cpus] LIKWID's runtime of the region */
	const int64_t *call_counts; /* [n_cpus] */
	size_t n_events;
	const char *const *event_names;	  /* [n_events] as LIKWID has them; not unique */
	const char *const *counter_names; /* [n_events] registers ("PMC0"); "" where not known */
	/*
	 * [n_events] what to key tables by: the name where it occurs once, else NAME:COUNTER, else
	 * (counter not known) NAME#index.
	 */
	const char *const *event_labels;
	const double *events; /* [n_events][n_cpus] */
	size_t n_metrics;
	const char *const *metric_names; /* [n_metrics] with their units: "Clock [MHz]" */
	const double *metrics;		 /* [n_metrics][n_cpus] */
};

/*
 * Open a file; *ret_results is closed with callmark_results_close().
 * -ENOENT, -EACCES; -EINVAL: not HDF5, cut off, damaged or no profile; -EFBIG: its texts are
 * absurdly large; -ENOMEM; -EIO: HDF5 does not work.
 */
int callmark_results_open(const char *path, struct callmark_results **ret_results, char *error,
			  size_t error_bytes);

/* NULL is allowed. */
void callmark_results_close(struct callmark_results *results);

/* Version of the callmark that wrote the file, and the run it is of; "" where it is another tool's.
 */
const char *callmark_results_version(const struct callmark_results *results);
const char *callmark_results_run_id(const struct callmark_results *results);

/* Attribute i in order of names, NULL past the last; or the one of that name, or NULL. */
const struct callmark_results_metadata *
callmark_results_metadata(const struct callmark_results *results, size_t i);
const struct callmark_results_metadata *
callmark_results_find_metadata(const struct callmark_results *results, const char *name);

/*
 * Ranks, ascending: those in the file, those that the run had and the file has not, those with
 * hardware counters. Return how many; the array is in *ret_ranks unless that is NULL.
 */
size_t callmark_results_ranks(const struct callmark_results *results, const int64_t **ret_ranks);
size_t callmark_results_missing_ranks(const struct callmark_results *results,
				      const int64_t **ret_ranks);
size_t callmark_results_likwid_ranks(const struct callmark_results *results,
				     const int64_t **ret_ranks);

/* Whether any rank has hardware counters. */
bool callmark_results_has_likwid(const struct callmark_results *results);

/* By the rank's number (not its place). NULL: not in the file. Likewise for all that take a rank.
 */
const struct callmark_results_rank *callmark_results_rank(const struct callmark_results *results,
							  int64_t rank);

/* Row i of the rank's threads; NULL past the last. */
const struct callmark_results_thread *
callmark_results_thread(const struct callmark_results *results, int64_t rank, size_t i);

/* Region i, in order of names; NULL past the last. Or the first of that tag, or NULL. */
const struct callmark_results_region *
callmark_results_region(const struct callmark_results *results, int64_t rank, size_t i);
const struct callmark_results_region *
callmark_results_find_region(const struct callmark_results *results, int64_t rank, const char *tag);

/*
 * Rows first..first+n-1 of a region's trace, by ascending start, into the caller's arrays of n
 * elements; each may be NULL. ret_threads: rows for callmark_results_thread(), -1 where not known.
 * -ERANGE: past n_traced. -EINVAL, -ENOENT, ...: the file has changed since.
 */
int callmark_results_read_calls(struct callmark_results *results,
				const struct callmark_results_region *region, uint64_t first,
				size_t n, int64_t *ret_starts_ns, int64_t *ret_ends_ns,
				int32_t *ret_threads, char *error, size_t error_bytes);

/*
 * Counters i of a rank, in order of tags; NULL past the last. Or the first of that tag and event
 * group (NULL: any group), or NULL.
 */
const struct callmark_results_likwid *
callmark_results_likwid(const struct callmark_results *results, int64_t rank, size_t i);
const struct callmark_results_likwid *
callmark_results_find_likwid(const struct callmark_results *results, int64_t rank, const char *tag,
			     const char *group_name);

/* Value of a LIKWID_* variable of the rank's process; NULL where it was not set. */
const char *callmark_results_likwid_variable(const struct callmark_results *results, int64_t rank,
					     const char *name);

#ifdef __cplusplus
}
#endif

#endif
