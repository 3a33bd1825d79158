/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What callmark-reader hands over to the collector: one JSON file, written beside its name and
 * renamed, so that a file that is there is complete, whatever became of the reader afterwards.
 *
 *	{"callmark_reader": 1, "library": "/usr/lib/.../liblikwid.so.5.2", "cpu": "Intel ...",
 *	 "groups": [{"id": 0, "name": "FLOPS_DP", "events": ["..."], "counters": ["PMC0"],
 *	             "metrics": ["CPI"]}],
 *	 "regions": [{"tag": "solve", "group": 0, "cpus": [0, 1], "times": [s, s], "counts": [n, n],
 *	              "events": [[cpu 0, cpu 1], ...], "metrics": [[...], ...]}],
 *	 "complete": true}
 *
 * Tags are those LIKWID was given, without its "-<group>"; one that is no UTF-8 (a cut-off name)
 *has question marks there and its bytes in a further key, "tag_hex". Numbers have 17 digits; null
 * stands for NaN, "inf" and "-inf" for those. A region with no participant is left out.
 *
 *	rc = cm_reader_result_load(&result, path, &arena, &diag);
 *
 * Hostile input: sizes are checked against one another, at most CM_READER_MAX_BYTES are read.
 */
#ifndef CALLMARK_COLLECTOR_READER_RESULT_H
#define CALLMARK_COLLECTOR_READER_RESULT_H

#include <stddef.h>

#include "collector/arena.h"
#include "collector/profile.h"
#include "preload/diag.h"

#define CM_READER_MAX_BYTES (256u << 20)

struct cm_reader_result {
	const char *cpu_name;
	struct cm_profile_counters *counters; /* tag as LIKWID has it, source "full_api" */
	size_t n_counters;
};

/* 0; -EINVAL not complete or nonsense; -EFBIG; -ENOENT; -ENOMEM. Owned by the arena. */
int cm_reader_result_load(struct cm_reader_result *result, const char *path, struct cm_arena *arena,
			  struct cm_diag *diag);

/* The same from memory; `name` is for messages. */
int cm_reader_result_parse(struct cm_reader_result *result, const char *text, size_t n_bytes,
			   const char *name, struct cm_arena *arena, struct cm_diag *diag);

#endif
