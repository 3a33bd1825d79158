/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --read: perfmon once more, the marker file into it, and what it makes of it into the result.
 *
 * Runs in the guarded child (reader-guard.h). The marker file is read by us first: LIKWID's own
 * reader overruns its buffers when a line is too long or a number is not what it expects. The file
 * itself stays: likwid-perfctr reads it after us.
 */
#ifndef CALLMARK_COLLECTOR_READER_READ_H
#define CALLMARK_COLLECTOR_READER_READ_H

#include "collector/likwid-library.h"
#include "collector/marker-file.h"
#include "collector/reader-guard.h"
#include "collector/reader-perfmon.h"

struct cm_reader_read {
	const char *result; /* path of the JSON file */
	const char *library;
	struct cm_reader_perfmon perfmon;
};

/* ctx: struct cm_reader_read. Negative errno and a line in report->diag; or the process ends. */
int cm_reader_read(void *ctx, struct cm_reader_report *report);

/* Ask perfmon for everything and write the file, in reader-write.c. */
int cm_reader_write(const struct cm_likwid *likwid, const struct cm_reader_read *read,
		    const struct cm_marker_file *file, struct cm_diag *diag);

#endif
