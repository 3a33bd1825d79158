/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing profiling_data.h5: one rank's file from a profile and its streamed traces, and many
 * ranks' files into one. The layout itself stands in writer/h5-schema.h, once.
 *
 *	cm_writer_open(&writer, path, profile, &options, &diag);
 *	cm_writer_append(writer, region, starts, ends, threads, n, &diag);    many times, any region
 *	cm_writer_commit(writer, &diag);           or cm_writer_discard(writer)
 *	cm_writer_join(shard, final, ..., &diag);  ranks of one run end up in one file
 *
 * A file is complete or absent: open writes a temporary sibling, commit flushes, fsyncs, renames.
 * Threads: one at a time for the whole process (HDF5 serial). Errors: negative errno and a line in
 * diag that carries HDF5's own message; -ENOSPC, -EACCES, ... where the system said so. A file size
 * limit is -EFBIG only where the process ignores SIGXFSZ.
 */
#ifndef CALLMARK_WRITER_WRITER_H
#define CALLMARK_WRITER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/profile.h"
#include "preload/diag.h"

enum cm_compress {
	CM_COMPRESS_DEFAULT, /* fast up to 1 million records in the rank, none above */
	CM_COMPRESS_NONE,
	CM_COMPRESS_FAST,  /* shuffle + deflate 1 */
	CM_COMPRESS_SMALL, /* shuffle + deflate 9 */
};

/* "none", "fast", "small", "" or NULL (default). -EINVAL on anything else. */
int cm_compress_parse(const char *text, enum cm_compress *ret_compress);

struct cm_writer_options {
	enum cm_compress compress;
};

struct cm_writer;

/*
 * Start the file of one rank beside `path`. The profile is borrowed until commit or discard; each
 * region's n_trace must be exact, its other numbers are read at commit time (the collector may go
 * on summing them while it streams).
 */
int cm_writer_open(struct cm_writer **ret_writer, const char *path,
		   const struct cm_profile *profile, const struct cm_writer_options *options,
		   struct cm_diag *diag);

/*
 * Rows a region should be appended in: every append but the last of a region has exactly this many
 * (it is the chunk size of compressed data and the piece in which uncompressed data is written).
 * At most n_trace; small where many regions share the memory.
 */
size_t cm_writer_rows(const struct cm_writer *writer, size_t region);

/*
 * Append n calls to profile->regions[region], ascending in start over all appends of that region.
 * threads: index into profile->threads, or NULL where the region has one_thread. -EINVAL: more
 * calls than n_trace. After an error only cm_writer_discard() is left.
 */
int cm_writer_append(struct cm_writer *writer, size_t region, const int64_t *starts,
		     const int64_t *ends, const int32_t *threads, size_t n, struct cm_diag *diag);

/*
 * Write everything else, close, fsync, rename over path. The writer is gone in any case.
 * -EINVAL: a region has fewer calls than n_trace. Whatever stood under path is replaced:
 * cm_writer_join() is the one that looks first.
 */
int cm_writer_commit(struct cm_writer *writer, struct cm_diag *diag);

/* Remove the temporary file. NULL is allowed. */
void cm_writer_discard(struct cm_writer *writer);

/*
 * Bring a rank's file (a "shard", made with the above) into the run's file `path`.
 *
 * When `path` is a profile with another run id it is replaced; otherwise the rank joins those in
 * it. A serial run (mpi_size 1) is renamed into place. Otherwise the shard goes to the sibling
 * folder `.<name>.shards/`, and `path` is a small master of external links to the shards. It is
 * written under a lock (a sibling, `.<name>.lock`) by every one of the first 64 ranks, then
 * whenever it would grow by an eighth, and when all mpi_size ranks are there: all of it together is
 * linear in their number. cm_results_open() also finds ranks that have come since. Once all are
 * there they are copied into one file, and the folder is removed; not above
 * CM_WRITER_MAX_COPIED_RANKS, nor with keep_links (of any rank), nor when the disk is too full for
 * it: the links stay. With mpi_size 0 (not known) they stay until cm_writer_finish(). Ranks may
 * arrive in any order and at the same time; the metadata of the joined file are those of its lowest
 * rank. A rank that comes to a file that has been copied does not cause another copy before all are
 * there.
 *
 * A lock that another process holds for 60 s is no error: the rank waits in the folder, where
 * readers of ours and whoever writes the file next find it.
 *
 * -EEXIST: the rank is already there (the caller gives the second process its own file), or `path`
 * is something that is no profile: that is never replaced (an empty file is; diag says which).
 * On failure the shard is where it was; after success it is gone.
 *
 * cm_writer_shard_path() says where to write the shard so that joining is a rename.
 */
#define CM_WRITER_MAX_COPIED_RANKS 256

int cm_writer_shard_path(const char *path, const char *run_id, int64_t rank, int64_t pid, char *buf,
			 size_t n_bytes);

int cm_writer_join(const char *shard, const char *path, const char *run_id, int64_t rank,
		   int64_t mpi_size, bool keep_links, struct cm_diag *diag);

/*
 * Bring the file of a run up to date whose ranks may not all come, and list the missing_ranks.
 * Without more_may_come what is there is copied, as above; with it (other nodes may still run) the
 * copy is made only where it is not made again and again. 0 also where there is nothing to do;
 * -ENOENT: no rank of that run is there.
 */
int cm_writer_finish(const char *path, const char *run_id, bool more_may_come,
		     struct cm_diag *diag);

/* Is there a profile under this name? Only its root is looked at. */
bool cm_writer_is_profile(const char *path);

/*
 * The ranks of n_files files as one file, `path`, which may be one of them: what was links to
 * shards is then one file. Ranks of different runs make a file without run id. mpi_size is raised
 * to what the ranks need; ranks below it that are nowhere are listed as missing.
 *
 * -EEXIST: two files have the same rank (diag names them), or `path` is no profile; -EINVAL: one
 * of the files is none, or holds no rank, or (links) is not below path's folder, out of which no
 * reader follows a link. As above, the file is complete or absent.
 */
struct cm_writer_merge_options {
	bool links;    /* to the files, or to what they link to, instead of copies */
	bool renumber; /* ranks 0, 1, ... in the order of the files, and of their ranks */
};

int cm_writer_merge(const char *path, const char *const *files, size_t n_files,
		    const struct cm_writer_merge_options *options, size_t *ret_n_ranks,
		    struct cm_diag *diag);

#endif
