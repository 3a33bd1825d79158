/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inspection as JSON; callmark-inspect(1) describes it for users.
 *
 *	{
 *	  "callmark_inspect": 1,            version of this form
 *	  "file", "run_id", "callmark_version": string
 *	  "mpi_size": int, "missing_ranks": [int]
 *	  "aligned_zero_realtime_ns": int | null    what aligned times count from, as
 *	                                            CLOCK_REALTIME: the earliest first start
 *	  "metadata": {name: string | int | [string]}
 *	  "all_ranks": {                    over the ranks shown, also when that is one
 *	    "n_ranks": int
 *	    "profiled_ns": int | null       of each thread, first start to last end, summed
 *	    "complete": bool                the traces hold all calls; else profiled_ns may lack
 *	                                    the time after a trace's end
 *	    "untimed_calls": int
 *	    "regions": [region]             as filtered and sorted; each has "over_ranks":
 *	      {"mean_ns": real, "min_ns", "max_ns", "lost_ns": int, "slowest_rank": int | null,
 *	       "imbalance": real | null}    of the ranks' totals (cli/inspect-balance.h)
 *	    "likwid": {                     over several ranks only: all their hardware threads
 *	      "n_ranks": int, "cpu_name": string
 *	      "regions": [{
 *	        "tag", "group_name", "source": string, "group_id", "n_ranks": int
 *	        "n_hardware_threads", "call_count": int, "max_time": number
 *	        "event_labels", "metric_names": [string]
 *	        "event_sums", "metric_means", "metric_mins", "metric_maxs": [number]
 *	      }]
 *	    }
 *	  }
 *	  "ranks": [{
 *	    "rank": int, and the members of all_ranks; its regions have "first_ns" and "last_ns"
 *	                                    (first start and last end, null where the trace does
 *	                                    not hold all calls) in place of "over_ranks"
 *	    "aligned_first_ns", "aligned_last_ns": int | null    on the axis of all ranks; of the
 *	                                    rank and of its regions
 *	    "hostname", "executable", "clock": string, "pid": int, "exit_status": int | null
 *	    "monotonic_to_realtime_ns": int, "overhead_ns_per_call": real | null
 *	    "command_line", "never_called", "notes": [string]
 *	    "threads": [{"tid": int, "name": string, "first_ns", "last_ns": int, "cpus": string}]
 *	    "likwid": {                     hardware counters, of the regions that are not filtered
 *	      "collected": bool, "cpu_name": string, "fallback": string
 *	      "markers_skipped": {reason: int}, "environment": {name: string}
 *	      "regions": [{                 by event group, then as in the table of regions
 *	        "tag", "group_name", "source": string, "group_id": int
 *	        "cpus", "call_counts": [int], "times": [number]      by hardware thread
 *	        "event_labels", "event_names": [string], "counter_names": [string] | null
 *	        "metric_names": [string]
 *	        "events", "metrics": [[number]]                      by name, by hardware thread
 *	      }]
 *	    }
 *	  }]
 *	}
 *
 *	number: real | null (NaN) | "inf" | "-inf"
 *
 *	region: {
 *	  "tag", "library": string, "symbols": [string], "n_ranks": int
 *	  "source_file": string | null, "source_lineno": int | null
 *	  "calls", "completed", "traced": int   completed = calls - open; traced < completed: capped
 *	  "total_ns": int, "min_ns", "max_ns": int | null, "avg_ns", "std_ns": real | null
 *	  "share": real | null                  total_ns / profiled_ns, a fraction; null also
 *	                                        above 1 without "complete"
 *	  "p50", "p95", "p99": {"ns": int, "exact": bool} | null
 *	  "tool_ns", "unwound", "skipped", "open", "dropped_events", "backwards": int
 *	  "histogram": [int]      calls of 2^b <= ns < 2^(b+1), b = 0, 1, ...; zeros at the end left
 *out
 *	}
 *
 * With --callers also "callers": cli/inspect-callers.h.
 *
 * Strings are valid UTF-8 (invalid bytes: U+FFFD), output is ASCII, one region a line. Numbers
 * beyond int64 are INT64_MAX. Written piece by piece: memory does not grow with the ranks.
 */
#ifndef CALLMARK_CLI_INSPECT_JSON_H
#define CALLMARK_CLI_INSPECT_JSON_H

#include <stdio.h>

#include "cli/inspect-model.h"

struct cm_call_trees;

/* callers: cli/inspect-callers.h, or NULL. -ENOMEM; write errors are left to the stream. */
int cm_inspect_json(FILE *out, const char *path, const struct cm_inspection *inspection,
		    const struct cm_call_trees *callers);

#endif
