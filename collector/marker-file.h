/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LIKWID's marker file, read by us: the file that likwid_markerClose() writes at LIKWID_FILEPATH.
 *
 *	<threads> <regions> <groups>
 *	<region id>:<tag>-<group>                                          one a region
 *	<region id> <group> <cpu> <calls> <seconds> <n events> <value>...  one a region and thread
 *
 *	rc = cm_marker_file_load(&file, path, &arena, &diag);
 *
 * Values have 7 digits, unusable ones are nan; a thread that never entered the region has cpu -1.
 * The file has no checks of its own: it may be truncated, and a tag with a newline breaks it. What
 * is sound is taken, the rest is dropped and makes the file `damaged`.
 *
 * Threads: one at a time. Errors: negative errno. Everything is owned by the arena.
 */
#ifndef CALLMARK_COLLECTOR_MARKER_FILE_H
#define CALLMARK_COLLECTOR_MARKER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/arena.h"
#include "preload/diag.h"

#define CM_MARKER_FILE_MAX_BYTES (256u << 20)
#define CM_MARKER_FILE_MAX_EVENTS 4096

/* One tag in one group; rows are the hardware threads that have a line, without those of -1. */
struct cm_marker_region {
	const char *tag; /* without "-<group>"; NULL: the file has no such region */
	int64_t group;
	size_t n_events;
	size_t n_rows;
	int64_t *cpus;
	int64_t *counts; /* may be 0: registered, never entered */
	double *times;	 /* seconds */
	double *events;	 /* [n_events][n_rows] */
};

struct cm_marker_file {
	size_t n_threads; /* as the first line says */
	size_t n_groups;
	struct cm_marker_region *regions; /* by region id */
	size_t n_regions;
	size_t longest_line;   /* bytes, without the newline */
	size_t longest_values; /* bytes of a line's values */
	struct cm_diag damage; /* the first line that made no sense; "" for none */
};

/* -EINVAL: not a marker file; -EFBIG; -ENOENT and others of open(2); -ENOMEM. */
int cm_marker_file_load(struct cm_marker_file *file, const char *path, struct cm_arena *arena,
			struct cm_diag *diag);

/* The same from memory; text[n_bytes] must be 0. `name` is for messages. */
int cm_marker_file_parse(struct cm_marker_file *file, const char *text, size_t n_bytes,
			 const char *name, struct cm_arena *arena, struct cm_diag *diag);

#endif
