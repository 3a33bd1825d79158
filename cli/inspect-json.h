/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An inspection as JSON; callmark-inspect(1) describes it for users.
 *
 *	{
 *	  "callmark_inspect": 1,            version of this form
 *	  "file", "run_id", "callmark_version": string
 *	  "mpi_size": int, "missing_ranks": [int]
 *	  "metadata": {name: string | int | [string]}
 *	  "all_ranks": {                    over the ranks shown, also when that is one
 *	    "n_ranks": int
 *	    "profiled_ns": int | null       of each thread, first start to last end, summed
 *	    "complete": bool                the traces hold all calls; else profiled_ns may lack
 *	                                    the time after a trace's end
 *	    "untimed_calls": int
 *	    "regions": [region]             as filtered and sorted
 *	  }
 *	  "ranks": [{
 *	    "rank": int, and the members of all_ranks
 *	    "hostname", "executable", "clock": string, "pid": int, "exit_status": int | null
 *	    "monotonic_to_realtime_ns": int, "overhead_ns_per_call": real | null
 *	    "command_line", "never_called", "notes": [string]
 *	    "threads": [{"tid": int, "name": string, "first_ns", "last_ns": int, "cpus": string}]
 *	  }]
 *	}
 *
 *	region: {
 *	  "tag", "library": string, "symbols": [string], "n_ranks": int
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
 * Strings are valid UTF-8 (invalid bytes: U+FFFD), output is ASCII, one region a line. Numbers
 * beyond int64 are INT64_MAX. Written piece by piece: memory does not grow with the ranks.
 */
#ifndef CALLMARK_CLI_INSPECT_JSON_H
#define CALLMARK_CLI_INSPECT_JSON_H

#include <stdio.h>

#include "cli/inspect-model.h"

/* -ENOMEM; write errors are left to the stream. */
int cm_inspect_json(FILE *out, const char *path, const struct cm_inspection *inspection);

#endif
