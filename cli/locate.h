/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where callmark's other parts are, seen from its own executable: beside it in a build tree, else
 * where they were installed (also when the whole tree was moved elsewhere).
 *
 * Threads: any. Errors: -ENOENT and a line in diag that says where was looked; -ENAMETOOLONG.
 */
#ifndef CALLMARK_CLI_LOCATE_H
#define CALLMARK_CLI_LOCATE_H

#include <stddef.h>

#include "preload/diag.h"

enum cm_part {
	CM_PART_PRELOAD, /* libcallmark-preload.so */
	CM_PART_COLLECT, /* callmark-collect */
	CM_PART_READER,	 /* callmark-reader */
	CM_PART_SITES,	 /* callmark-sites */
	CM_PART_WORKER,	 /* callmark-worker */
};

/* The absolute path, without symbolic links, into buf. */
int cm_locate(enum cm_part part, char *buf, size_t n_bytes, struct cm_diag *diag);

/* The same for an executable in folder `bin` (a test's, or that of /proc/self/exe). */
int cm_locate_from(const char *bin, enum cm_part part, char *buf, size_t n_bytes,
		   struct cm_diag *diag);

#endif
