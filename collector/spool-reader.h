/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process's spool, opened for reading: everything but the record streams (collector/stream.h).
 *
 *	cm_spool_reader_open(&reader, "/tmp/callmark-0/run/123-4f", &diag);
 *	... reader.regions[i].tag, reader.slots[k].open ...
 *	cm_spool_reader_close(&reader);
 *
 * The format is preload/spool.h. Every byte is hostile: sizes, offsets, indices and strings are
 * checked against what is really there; symbolic links and special files are refused; files are
 * read with pread, never mapped, so that one that shrinks meanwhile is no SIGBUS. Truncation is
 * normal and gives what is there. A foreign file or a newer version is an error.
 *
 * The process may still live and record. Per slot the open-call table is copied first, then the
 * rings, then the size of the drained part is noted: a call that moves on meanwhile is seen twice
 * (and recognised), never lost.
 *
 * Threads: one at a time. Errors: negative errno and a line in diag. Strings and tables are owned
 * by the reader, valid until close.
 */
#ifndef CALLMARK_COLLECTOR_SPOOL_READER_H
#define CALLMARK_COLLECTOR_SPOOL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/arena.h"
#include "preload/diag.h"
#include "preload/spool.h"

#define CM_SPOOL_MAX_THREADS (1u << 22) /* the kernel's own limit of thread ids */

struct cm_spool_region {
	const char *tag; /* NULL: no such region */
	uint32_t rule;
	uint64_t max_events;
};

struct cm_spool_site {
	uint32_t rule;
	uint32_t region; /* UINT32_MAX: none */
	uint32_t kind;
	uint32_t state;
	const char *symbol;
	const char *version;
	const char *object;
	const char *library;
	const char *reason;
};

struct cm_spool_thread_row {
	bool known;
	uint32_t slot;
	uint64_t tid;
	uint64_t start; /* ticks */
	const char *name;
};

/* A tag that was given to LIKWID. */
struct cm_spool_marker {
	const char *tag; /* as LIKWID has it; NULL: no such marker */
	uint32_t region; /* UINT32_MAX: the program's own tag */
};

struct cm_spool_snapshot {
	const struct cm_spool_snapshot_item *head;
	const double *events; /* head->n_events of them */
};

/* An object in the process's memory: loaded, or (is_closed) gone from these addresses. */
struct cm_spool_object {
	const char *path;
	const char *build_id; /* hexadecimal, "" without one */
	uint64_t base;	      /* address = base + address in the file */
	uint64_t low, high;
	bool is_closed;
};

/* A function that a region stands for. */
struct cm_spool_function {
	uint32_t region;
	size_t n_objects; /* items about objects before this one */
	uint64_t address;
};

/* From where a region was entered. */
struct cm_spool_path {
	const uint64_t *frames; /* return addresses, innermost first; NULL: no such path */
	uint32_t n_frames;
	uint32_t region;
	uint32_t flags;	  /* CM_PATH_* */
	size_t n_objects; /* as above */
	uint64_t n_calls; /* over all slots; saturates */
	uint64_t total_ticks;
};

/* A window of the stream that stands in a ring. */
struct cm_ring {
	char name[24]; /* of its file */
	uint64_t base; /* byte position in the stream, multiple of 8 */
	uint64_t n_bytes;
	uint64_t file_off;     /* of the window's first byte */
	const uint64_t *words; /* private copy, NULL: too large, read in place */
};

struct cm_slot {
	uint32_t slot;
	bool has_dat;
	bool has_tot;
	uint64_t dat_bytes;    /* multiple of 8; fixed when the reader was opened */
	struct cm_ring *rings; /* ascending base */
	size_t n_rings;
	struct cm_spool_open *open; /* entries in use, sorted by region, then start */
	size_t n_open;
	uint64_t n_dropped;
};

struct cm_spool_reader {
	int dir_fd;
	const char *path;
	struct cm_arena arena;
	struct cm_spool_process process;

	/* Identity: never NULL. */
	const char *run_id;
	const char *hostname;
	const char *executable;
	const char *cwd;
	const char *output;
	const char *compress;

	const char **argv;
	size_t n_argv;
	const char **env;
	size_t n_env;
	const char **notes;
	size_t n_notes;
	const char **rules; /* by rule index; NULL where missing */
	size_t n_rules;
	struct cm_spool_region *regions; /* by region index */
	size_t n_regions;
	struct cm_spool_site *sites;
	size_t n_sites;
	struct cm_spool_sync_item *syncs;
	size_t n_syncs;
	struct cm_spool_thread_row *threads; /* by thread index */
	size_t n_threads;
	struct cm_spool_cpu_item *cpus;
	size_t n_cpus;
	bool has_exit;
	struct cm_spool_exit_item exit;

	/* Hardware counters (spool-counters.c). */
	bool has_counters;
	struct cm_spool_counters_item counters;
	const char *likwid_path; /* never NULL with has_counters; likewise */
	const char *counters_reason;
	struct cm_spool_marker *markers; /* by order of registration */
	size_t n_markers;
	struct cm_spool_skips_item skips;
	struct cm_spool_snapshot *snapshots;
	size_t n_snapshots;

	/* Call paths (spool-paths.c). */
	struct cm_spool_object *objects; /* in the order in which they came and went */
	size_t n_objects;
	struct cm_spool_function *functions;
	size_t n_functions;
	struct cm_spool_path *paths; /* by path index */
	size_t n_paths;
	size_t n_path_items;

	struct cm_slot *slots; /* ascending */
	size_t n_slots;
	uint64_t ring_copy_bytes; /* private copies so far */

	uint64_t n_bad_items; /* items that made no sense, and were passed over */
	uint64_t n_bad_files; /* files that could not be used, likewise */
};

/*
 * Open the folder of one process. -EINVAL: foreign or newer; -ENOENT: no process file; -ELOOP,
 * -EACCES, -ENOMEM, ... Nothing is left open on failure.
 */
int cm_spool_reader_open(struct cm_spool_reader *reader, const char *path, struct cm_diag *diag);
void cm_spool_reader_close(struct cm_spool_reader *reader);

/* The value of NAME in the spooled environment, or NULL; ctx is the reader (as cm_rank_find). */
const char *cm_spool_reader_getenv(void *ctx, const char *name);

/*
 * Has a ring that is read in place moved on since open? Then what was decoded from it cannot be
 * trusted: 1. Else 0.
 */
int cm_spool_reader_has_moved(const struct cm_spool_reader *reader);

/* Parts of open, each in its own file. */
int cm_spool_reader_read_items(struct cm_spool_reader *reader, struct cm_diag *diag);
int cm_spool_reader_read_slots(struct cm_spool_reader *reader, struct cm_diag *diag);

/*
 * Add the calls of t<slot>.pth to the paths. Before the rings and totals of that slot are read: the
 * process adds a call there last. -ENOMEM; a file that cannot be used is counted.
 */
int cm_spool_reader_add_paths(struct cm_spool_reader *reader, const char *name);

/* Open a regular file of the spool for reading, no links followed. A descriptor, or -errno. */
int cm_spool_reader_open_file(const struct cm_spool_reader *reader, const char *name);

/* pread until n_bytes or the end of the file. Bytes read, or -errno. */
long cm_spool_reader_pread(int fd, void *buf, size_t n_bytes, uint64_t off);

#endif
