/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to cli/doctor*.c: the findings of `callmark doctor`, one line each, with what to do about
 * it in the next one.
 *
 *	own parts (doctor.c, cm_doctor_look_at_sites) -> cm_doctor_look_at_likwid ->
 *cm_doctor_look_at_machine -> verdict
 *
 * Whether counters work is decided by trying (callmark-reader --check); everything else explains.
 */
#ifndef CALLMARK_CLI_DOCTOR_H
#define CALLMARK_CLI_DOCTOR_H

#include <limits.h>
#include <stdbool.h>

#include "cli/supervise.h"

enum cm_finding {
	CM_FINDING_OK,
	CM_FINDING_BAD,	 /* stands in the way */
	CM_FINDING_NOTE, /* to know when reading the numbers, or without effect */
};

struct cm_doctor {
	struct cm_supervise supervise;
	bool is_complete; /* all parts of callmark are there and can work */
	bool can_count;	  /* markers could be opened */
	bool is_simulated;
	bool is_interrupted;
	char reader[PATH_MAX]; /* "" where it is missing */
};

/* "  mark  topic     text". */
void cm_doctor_say(enum cm_finding finding, const char *topic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What to do about the last one. */
void cm_doctor_advise(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* callmark-sites at work, and the cache of what it makes (internal=yes). */
void cm_doctor_look_at_sites(struct cm_doctor *doctor);

/* likwid-perfctr, liblikwid, the CPU as LIKWID knows it, and the attempt; sets can_count. */
void cm_doctor_look_at_likwid(struct cm_doctor *doctor);

/* Ways to the counters (daemon, msr, perf_event), and what blurs them. After the above. */
void cm_doctor_look_at_machine(const struct cm_doctor *doctor);

#endif
