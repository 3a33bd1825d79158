/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What there is to recover under a folder: spools of processes, and folders of runs.
 *
 *	cm_recover_scan(&found, dir, &diag);        more than once; the lists grow
 *	... found.processes, found.runs ...
 *	cm_recover_fini(&found);
 *
 * Nothing is changed on disk. Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_CLI_RECOVER_SCAN_H
#define CALLMARK_CLI_RECOVER_SCAN_H

#include <stddef.h>

#include "preload/diag.h"

struct cm_recover_list {
	char **paths; /* absolute, owned by the list */
	size_t n;
};

struct cm_recover {
	struct cm_recover_list processes; /* ended */
	struct cm_recover_list runs;	  /* with something left to do, no `run` stands */
	size_t n_busy;			  /* runs in use and spools of processes that still run */
};

/*
 * dir is a process's spool, a run's folder, a user's folder ("callmark-<uid>"), or a base that
 * holds one; in any other folder nothing is found. A spool that another user owns or can write is
 * refused: -EPERM. -ENOENT, ... as the system says.
 */
int cm_recover_scan(struct cm_recover *found, const char *dir, struct cm_diag *diag);

void cm_recover_fini(struct cm_recover *found);

#endif
