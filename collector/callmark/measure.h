/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callmark/measure.h - count hardware events during one call of a function
 *
 * SYNOPSIS
 *
 *	#include <callmark/measure.h>
 *	cc program.c $(pkg-config --cflags --libs callmark)
 *
 * DESCRIPTION
 *
 * cm_measure_counters() calls a function exactly once between the start and the stop of LIKWID's
 * counters, with the events, CPUs and units that the caller declares. Nothing is guessed: what the
 * declaration does not say is refused, and where counters do not work, the function is not called
 * and the result says why. Nothing is changed either: no permission, affinity, environment
 * variable or CPU setting. Preparation and checks belong outside of the function; work that it
 * starts in the background must be over when it returns.
 *
 * SCOPE. The window is one of LIKWID's back end on the CPUs selected. In the access modes DIRECT
 * and DAEMON it counts whatever runs there, other programs too; what PERF counts depends on the
 * LIKWID installed and on LIKWID_PERF_PID. It is never claimed to be all of a process.
 *
 * VALUES are LIKWID's doubles as they are: not scaled, not rounded, not made integers. Units are
 * the caller's, never inferred. The group's time is LIKWID's, in seconds. LIKWID does not tell
 * for how much of the time a counter was enabled or running.
 *
 * LIKWID is loaded at run time (liblikwid.so.5 as the loader finds it, then $LIKWID_HOME, then
 * beside the likwid-perfctr on PATH). It is first tried in a forked child with a time limit, as
 * its set-up may exit or crash; each of the two set-ups takes LIKWID about a second. State of
 * LIKWID's that the process has already initialised (topology, NUMA, perfmon) is never touched:
 * the window is then refused.
 *
 * ERRORS. 0: see result->status, CM_COUNTER_COMPLETE or CM_COUNTER_UNAVAILABLE. Negative: -EINVAL,
 * the declaration is wrong and nothing was called; -ECANCELED, the function returned non-zero,
 * see fn_status; -EIO, the counters could not be stopped, read or given back; -ENOMEM. There are
 * no records then, and result->error says in one line what, where and what to do.
 *
 * OWNERSHIP. The result is the caller's struct; all that it points to is valid until
 * cm_counter_result_free(), which is needed whatever was returned. Pointers to texts are never
 * NULL. The declaration is only read during the call.
 *
 * THREADS. One window at a time in a process; another one is refused meanwhile. The affinity that
 * counts is the calling thread's. SIGCHLD is sent for the trial's child and LIKWID's own. The
 * function must return: no longjmp, exception or thread exit out of it.
 *
 * EXAMPLE
 *
 *	#include <stdio.h>
 *	#include <callmark/measure.h>
 *
 *	static int work(void *ctx)
 *	{
 *		volatile double *sum = ctx;
 *
 *		for (int i = 0; i < 1000000; i++)
 *			*sum = *sum + i;
 *		return 0;
 *	}
 *
 *	int main(void)
 *	{
 *		static const int cpuids[] = {0};
 *		static const struct cm_event_unit units[] = {{"INSTR_RETIRED_ANY", "1"}};
 *		struct cm_declaration declaration = {
 *			.event_set = "INSTR_RETIRED_ANY:FIXC0",
 *			.cpuids = cpuids,
 *			.n_cpuids = 1,
 *			.units = units,
 *			.n_units = 1,
 *		};
 *		struct cm_counter_result result;
 *		double sum = 0;
 *		int rc = cm_measure_counters(work, &sum, &declaration, &result);
 *
 *		if (rc < 0)
 *			fprintf(stderr, "%s\n", result.error);
 *		else
 *			printf("%s %s\n", cm_counter_status_name(result.status), result.reason);
 *		for (size_t i = 0; i < result.n_records; i++)
 *			printf("%s on CPU %d: %.17g %s\n", result.records[i].event,
 *			       result.records[i].cpu_id, result.records[i].value,
 *			       result.records[i].unit);
 *		cm_counter_result_free(&result);
 *		return rc < 0;
 *	}
 *
 * SEE ALSO
 *
 * callmark(1), callmark/worker.h
 */
#ifndef CALLMARK_MEASURE_H
#define CALLMARK_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CM_COUNTER_ERROR_BYTES 512

struct cm_event_unit {
	const char *event; /* name as in the event set, without the counter */
	const char *unit;  /* letter or digit, then letters, digits and . / _ * ^ -; at most 128 */
};

/* All three are needed. Zero what is not set. They are checked in the order in which they stand. */
struct cm_declaration {
	/* "NAME:COUNTER,NAME:COUNTER", counters FIXC<n> and PMC<n>; no groups, options, uncore. */
	const char *event_set;
	const int *cpuids; /* [n_cpuids] in the calling thread's affinity, no duplicates */
	size_t n_cpuids;
	/*
	 * [n_units] one for each event and no other. INSTR_RETIRED_ANY, CPU_CLK_UNHALTED_CORE and
	 * CPU_CLK_UNHALTED_REF are counts and have the unit "1".
	 */
	const struct cm_event_unit *units;
	size_t n_units;
	const void *reserved[4];
};

enum cm_counter_status {
	CM_COUNTER_COMPLETE,	/* counted */
	CM_COUNTER_UNAVAILABLE, /* there can be no counters here; nothing was called */
	CM_COUNTER_BLOCKED,	/* a worker's blocking probe was missed */
	CM_COUNTER_INVALID,	/* a worker's oracle failed */
	CM_COUNTER_FAILED,	/* something went wrong */
};

enum cm_access_mode {
	CM_ACCESS_NOT_RECORDED,
	CM_ACCESS_PERF,
	CM_ACCESS_DIRECT,
	CM_ACCESS_DAEMON,
};

struct cm_counter_record {
	const char *event;
	const char *counter;
	int cpu_id;
	const char *unit;
	double value; /* finite, not negative */
};

struct cm_counter_result {
	enum cm_counter_status status;
	/*
	 * "" when complete. Unavailable, one of: unsupported_platform, foreign_or_invalid_perf_pid,
	 * library_unavailable, native_state_already_owned, access_mode_unknown,
	 * initialization_refused, event_set_refused, event_set_changed, event_identity_changed,
	 * setup_refused, start_refused. Else a text.
	 */
	const char *reason;
	const char *detail; /* one line on the reason; "" where there is no more to say */
	const struct cm_counter_record *records; /* [n_records] CPU by CPU, each in event order */
	size_t n_records;			 /* events times CPUs when complete, else 0 */
	const int *allowed_cpuids;		 /* [n_allowed_cpuids] the affinity, ascending */
	size_t n_allowed_cpuids;
	const int *cpuids; /* [n_cpuids] as declared */
	size_t n_cpuids;
	bool has_group_time;
	double group_time_seconds;
	enum cm_access_mode access_mode;
	bool has_perf_pid;
	long perf_pid; /* LIKWID_PERF_PID, this process */
	/* [n_backend_added_events] "NAME:FIXC<n>" that LIKWID counted as well, without records */
	const char *const *backend_added_events;
	size_t n_backend_added_events;
	/* [n_variables] "NAME=VALUE": LIKWID_FORCE, _FORCE_SETUP, _PERF_FLAGS, _NO_ACCESS if set */
	const char *const *variables;
	size_t n_variables;
	const char *cpu_name;		    /* as LIKWID has it; of a simulated CPU it says so */
	const char *library;		    /* path of liblikwid; "" where none was loaded */
	bool was_called;		    /* the function, once */
	int fn_status;			    /* what it returned */
	char error[CM_COUNTER_ERROR_BYTES]; /* "" unless a negative number was returned */
	void *reserved[8];
	void *owned; /* the library's */
};

/* Count one call of fn(ctx). See above for what is returned. */
int cm_measure_counters(int (*fn)(void *ctx), void *ctx, const struct cm_declaration *declaration,
			struct cm_counter_result *result);

/* Frees what the result points to and empties it. A zeroed one is allowed. */
void cm_counter_result_free(struct cm_counter_result *result);

/* "complete", "unavailable", "blocked", "invalid", "failed"; "unknown" for another number. */
const char *cm_counter_status_name(enum cm_counter_status status);

/* "PERF", "DIRECT", "DAEMON"; "not_recorded" for another number. */
const char *cm_access_mode_name(enum cm_access_mode mode);

#ifdef __cplusplus
}
#endif

#endif
