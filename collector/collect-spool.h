/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking over one process's spool, and a whole run's; what callmark-collect does.
 *
 * Threads: one at a time for the whole process (the writer's rule). Errors: negative errno and a
 * line in diag; the spool is then still there.
 */
#ifndef CALLMARK_COLLECTOR_COLLECT_SPOOL_H
#define CALLMARK_COLLECTOR_COLLECT_SPOOL_H

#include <stdbool.h>

#include "preload/diag.h"
#include "writer/writer.h"

struct cm_collect_options {
	const char *output; /* pattern of the main name; NULL: the spool's */
	bool has_compress;  /* else the spool's */
	enum cm_compress compress;
	bool progress;
	bool keep;	/* leave the spool as it is */
	bool only_main; /* leave spools that are not for the main name */
};

/*
 * Fold the spool at `path` into its file and remove it. A spool without a single call makes no
 * file. -EPERM: another user's, or writable by others. -ENOENT, -EBUSY: see spool-remove.h.
 */
int cm_collect_spool(const char *path, const struct cm_collect_options *options,
		     struct cm_diag *diag);

/*
 * Every spool of ended processes in the folder of a run, then its main name and its ranks
 * (collector/collect.h, --run). complain(diag, path) is called for each spool that is kept because
 * something failed; the result is then -EIO.
 */
int cm_collect_run(const char *run_path, const struct cm_collect_options *options,
		   void (*complain)(const struct cm_diag *diag, const char *path),
		   struct cm_diag *diag);

/*
 * After cm_collect_spool(spool_path) for a process that waits for it at its exit: the spools of the
 * programs that the process was before it executed the last one, and, where it outlived its `run`
 * as a daemon does, all that is left of that. Does nothing for a process that has ended: whoever
 * takes that one over knows what else there is. complain() as above.
 */
void cm_collect_rest(const char *run_path, const char *spool_path,
		     const struct cm_collect_options *options,
		     void (*complain)(const struct cm_diag *diag, const char *path));

#endif
