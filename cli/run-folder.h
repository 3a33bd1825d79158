/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run's folder in the spool as `callmark run` and `callmark recover` see it: made before the
 * program starts, locked while any `run` of this run id stands, taken away when it is empty.
 *
 *	cm_run_folder_open(&folder, path, n_rules, &diag);
 *	... the program runs ...
 *	if (cm_run_folder_is_last(&folder)) ... collect everything, say what did not match
 *	cm_run_folder_close(&folder);
 *
 * The lock is flock() on the file `matched`: shared by each `run`, exclusive for the last one. The
 * files stay readable through the descriptors when the collector removes the folder.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag.
 */
#ifndef CALLMARK_CLI_RUN_FOLDER_H
#define CALLMARK_CLI_RUN_FOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/diag.h"
#include "preload/spool-path.h"

#define CM_MATCHED_NAME "matched"
#define CM_OUTPUTS_NAME "outputs"

struct cm_run_folder {
	char path[CM_SPOOL_PATH_BYTES];
	int matched_fd; /* -1 while not open */
	int outputs_fd;
	bool has_matched; /* `matched` has one byte for each of our rules */
	bool is_full;	  /* no room for it: the preload will have none either */
};

/* Make the folder with `matched` (n_rules zero bytes) and `outputs`, or join an existing one. */
int cm_run_folder_open(struct cm_run_folder *folder, const char *path, uint32_t n_rules,
		       struct cm_diag *diag);

/* True when no other `run` stands; from then on new ones of this run id wait for close. */
bool cm_run_folder_is_last(const struct cm_run_folder *folder);

/* Is some `run` using the run folder at this path? */
bool cm_run_folder_in_use(const char *path);

/*
 * The n_rules bytes of `matched` into ret_bytes. -ENODATA when the file belongs to other rules.
 */
int cm_run_folder_read_matched(const struct cm_run_folder *folder, uint8_t *ret_bytes,
			       uint32_t n_rules);

/* "<pid>-<hex>": the name of a process's spool. ret_pid may be NULL. */
bool cm_run_folder_is_process(const char *name, pid_t *ret_pid);

/* How many spools of processes are left; 0 also when the folder is gone. */
int cm_run_folder_n_spools(const char *path);

/* Unlock. With remove, and where no spool is left, the folder goes as well. */
void cm_run_folder_close(struct cm_run_folder *folder, bool remove);

#endif
