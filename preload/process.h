/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of one process: armed or not, who it is, where its spool is, and the process file.
 *
 * It lies in a page that a forked child finds zeroed, its lock included: state == 0 there means
 * that nothing below is valid and cm_process_renew() must run before anything is recorded.
 *
 * Calling sequence: cm_process_start() in the constructor (nothing touches the disk);
 * cm_process_spool() when the first call is recorded; cm_process_append*() under the lock.
 * Errors: negative errno. Context: signals blocked, lock held, unless said otherwise.
 */
#ifndef CALLMARK_PRELOAD_PROCESS_H
#define CALLMARK_PRELOAD_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"
#include "preload/spool-path.h"
#include "preload/spool.h"

struct cm_path;
struct cm_thread;

enum cm_process_state {
	CM_PROCESS_NEW = 0, /* a forked child that has not recorded yet */
	CM_PROCESS_ARMED = 1,
	CM_PROCESS_CLOSED =
		2, /* exit work has begun, or something failed: pass everything through */
};

struct cm_process {
	_Atomic uint32_t state;	     /* enum cm_process_state */
	_Atomic uint32_t lock;	     /* of this struct and the process file; see cm_lock() */
	_Atomic uint32_t sites_lock; /* of the registry, stubs and sites; never taken in a hook */
	bool has_spool;
	bool can_spool; /* false once making the spool has failed */
	int pid;
	uint32_t n_threads;
	uint32_t n_slots;
	struct cm_thread *threads;
	uint64_t start_mono_ns, start_realtime_ns, start_tick;
	uint64_t last_sync_tick;
	_Atomic uint64_t n_dropped;
	size_t n_file_bytes;	    /* of the process file */
	uint32_t n_regions_written; /* of cm_regions */
	uint32_t n_sites_written;
	uint32_t n_objects_written;   /* of cm_object_log_at() */
	uint32_t n_functions_written; /* of the stubs */
	const struct cm_path *last_path_written;
	char dir[CM_SPOOL_PATH_BYTES];
} __attribute__((aligned(4096))); /* whole pages: nothing else is wiped with it */
extern struct cm_process cm_process;

/* No system call may be made any more (seccomp.h); forked children inherit it. */
extern _Atomic bool cm_process_is_sealed;

/* What the constructor found in the environment; constant afterwards, inherited by fork. */
struct cm_settings {
	const char *output;   /* absolute, or "" */
	const char *compress; /* "" where not given */
	const char *run_id;
	char run_path[CM_SPOOL_PATH_BYTES];
	const char *collect; /* callmark-collect */
	uint64_t main_pid;
	bool verbose;
	int argc;
	char **argv;
	char **envp;
	char cwd[CM_SPOOL_PATH_BYTES];
	char executable[CM_SPOOL_PATH_BYTES];
	char hostname[72];
	uint64_t stderr_dev, stderr_ino; /* file that was stderr at the start */
};
extern struct cm_settings cm_settings;

/* Fill cm_process for the running process. No disk access. */
void cm_process_start(void);

/* A forked child's first call: start again as a process of its own. Signals blocked. */
void cm_process_renew(void);

/* Futex locks: 0 free, 1 held, 2 held and waited for. Never taken on the fast path. */
bool cm_lock_timed(_Atomic uint32_t *lock, unsigned int ms); /* false: not got */
void cm_lock(_Atomic uint32_t *lock);
void cm_unlock(_Atomic uint32_t *lock);
void cm_process_lock(void);
void cm_process_unlock(void);

/* Make the spool folder and the process file if that has not been done. */
int cm_process_spool(struct cm_diag *diag);

/* Path of a file in the spool folder: "t<slot><suffix>", or suffix alone with slot < 0. */
int cm_process_path(char *buf, size_t n_bytes, int slot, const char *suffix);

/* Append one item: fixed part (item.type set, item.bytes filled in here), then strings. */
int cm_process_append(struct cm_spool_item *fixed, size_t n_fixed, const char *const *strings,
		      size_t n_strings);

/* Forget a batch that another thread of the parent was writing when it forked. */
void cm_process_file_reset(void);

/* Append regions, sites, objects, functions and call paths that are not in the file yet. */
void cm_process_append_new(void);

/* Append a sync point; unless force, only when the last one is 10 s old. */
void cm_process_sync(bool force);

/* A degradation the user should find in the file. */
void cm_process_note(const char *text);

#endif
