/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's perfmon with the CPUs and groups of the LIKWID_* environment: what --check tries and
 * --read starts with. Runs in the guarded child only (reader-guard.h).
 *
 *	rc = cm_reader_perfmon_start(&likwid, &perfmon, report);
 *	rc = cm_reader_perfmon_add_groups(&likwid, &perfmon, report);
 *
 * Errors: negative errno and a line in report->diag that a user can act on; or the process ends.
 */
#ifndef CALLMARK_COLLECTOR_READER_PERFMON_H
#define CALLMARK_COLLECTOR_READER_PERFMON_H

#include <stddef.h>

#include "collector/likwid-environment.h"
#include "collector/likwid-library.h"
#include "collector/reader-guard.h"

struct cm_reader_perfmon {
	const char *events;
	const char *file_path;
	int mode;
	int cpus[CM_LIKWID_MAX_CPUS];
	size_t n_cpus;
	size_t n_groups;
};

/* The environment alone: all of it there, and sound? */
int cm_reader_perfmon_find(struct cm_reader_perfmon *perfmon, struct cm_diag *diag);

/* Topology, access, perfmon_init. */
int cm_reader_perfmon_start(const struct cm_likwid *likwid, const struct cm_reader_perfmon *perfmon,
			    struct cm_reader_report *report);

/* Every group; its id is its place in LIKWID_EVENTS. */
int cm_reader_perfmon_add_groups(const struct cm_likwid *likwid,
				 const struct cm_reader_perfmon *perfmon,
				 struct cm_reader_report *report);

#endif
