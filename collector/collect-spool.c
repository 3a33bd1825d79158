/* SPDX-License-Identifier: BSD-3-Clause */
/* One spool, from the lock to its removal. */
#include "collector/collect-spool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/counters.h"
#include "collector/names.h"
#include "collector/outputs.h"
#include "collector/profile-build.h"
#include "collector/spool-clock.h"
#include "collector/spool-remove.h"
#include "collector/spool-run.h"
#include "preload/environment.h"
#include "preload/spool-path.h"

struct job {
	const struct cm_collect_options *options;
	struct cm_diag *diag;
	char path[PATH_MAX];	 /* of the spool, resolved */
	char run_path[PATH_MAX]; /* "": it does not lie in a run's folder */
	int lock_fd;
	struct cm_spool_reader reader;
	struct cm_clock_map map;
	struct cm_trace trace;
	struct cm_profile profile;
	struct cm_rank rank;
	struct cm_names names;
	struct cm_progress progress;
	struct cm_counters *counters;
};

static size_t writer_rows(void *ctx, size_t idx)
{
	return cm_writer_rows(ctx, idx);
}

static int writer_append(void *ctx, size_t idx, const int64_t *starts, const int64_t *ends,
			 const int32_t *threads, size_t n, struct cm_diag *diag)
{
	return cm_writer_append(ctx, idx, starts, ends, threads, n, diag);
}

static void folder_of(const char *path, char *buf)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(buf, ".");
	else
		snprintf(buf, PATH_MAX, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

static int write_file(struct job *job, const char *path)
{
	struct cm_writer_options options = {.compress = job->options->compress};
	struct cm_trace_sink sink = {.rows = writer_rows, .append = writer_append};
	struct cm_writer *writer;
	char dir[PATH_MAX];
	int rc;

	if (!job->options->has_compress &&
	    cm_compress_parse(job->reader.compress, &options.compress) < 0)
		options.compress = CM_COMPRESS_DEFAULT; /* `run` has complained already */
	rc = cm_writer_open(&writer, path, &job->profile, &options, job->diag);
	if (rc < 0)
		return rc;
	folder_of(path, dir);
	sink.ctx = writer;
	sink.spill_dir = dir;
	rc = cm_trace_write(&job->trace, &sink, &job->progress, job->diag);
	cm_progress_stop(&job->progress);
	if (rc >= 0)
		rc = cm_counters_finish(job->counters, &job->profile, job->options->progress,
					job->diag);
	if (rc < 0) {
		cm_writer_discard(writer);
		return rc;
	}
	cm_profile_finish(&job->profile, &job->trace);
	return cm_writer_commit(writer, job->diag);
}

/* A second image of the same process (exec) must not replace the first one's file. */
static void avoid_own_files(struct job *job)
{
	char *path = job->names.other_path;
	struct cm_arena *arena = &job->reader.arena;
	struct cm_output *outputs = NULL;
	size_t n = 0, n_stem = strlen(path) - strlen(".h5");
	int rc = *job->run_path ? cm_outputs_read(job->run_path, arena, &outputs, &n) : 0;

	for (int number = 2; rc == 0 && number < 1000; number++) {
		bool is_taken = false;

		for (size_t i = 0; i < n; i++)
			is_taken |= !strcmp(outputs[i].path, path) &&
				    !strcmp(outputs[i].run_id, job->reader.run_id);
		if (!is_taken)
			return;
		snprintf(path + n_stem, PATH_MAX - n_stem, "-%d.h5", number);
	}
}

static void note_output(struct job *job, bool is_main, const char *path)
{
	struct cm_output output = {
		.is_main = is_main,
		.is_ranked = job->names.is_ranked,
		.rank = job->rank.rank,
		.join_size = job->names.join_size,
		.pid = (int64_t)job->reader.process.pid,
		.run_id = job->reader.run_id,
		.main_path = job->names.main_path,
		.path = path,
	};

	/* The file is made, which is what counts: without a note `run` only does not name it. */
	if (*job->run_path)
		(void)cm_outputs_append(job->run_path, &output);
}

static int write_other(struct job *job)
{
	int rc;

	avoid_own_files(job);
	rc = write_file(job, job->names.other_path);
	if (rc >= 0)
		note_output(job, false, job->names.other_path);
	return rc;
}

/* `run --shards`: the ranks' files are not copied into one. */
static bool keep_links(struct job *job)
{
	const char *value = cm_spool_reader_getenv(&job->reader, CM_ENV_SHARDS);

	return value && !strcmp(value, "1");
}

/* Written beside the main name, then brought in; whoever comes second gets its own name. */
static int write_main(struct job *job)
{
	const char *main_path = job->names.main_path;
	char shard[PATH_MAX], dir[PATH_MAX], main_dir[PATH_MAX];
	struct cm_diag join_diag = {0};
	int rc;

	rc = cm_writer_shard_path(main_path, job->reader.run_id, job->rank.rank,
				  (int64_t)job->reader.process.pid, shard, sizeof(shard));
	if (rc < 0)
		return cm_diag_set(job->diag, rc, "%s: %s", main_path, strerror(-rc));
	folder_of(shard, dir);
	folder_of(main_path, main_dir);
	if (strcmp(dir, main_dir) && mkdir(dir, 0777) < 0 && errno != EEXIST) {
		rc = -errno;
		return cm_diag_set(job->diag, rc, "%s: %s", dir, strerror(-rc));
	}
	rc = write_file(job, shard);
	if (rc < 0)
		return rc;
	rc = cm_writer_join(shard, main_path, job->reader.run_id, job->rank.rank,
			    job->names.join_size, keep_links(job), &join_diag);
	if (rc >= 0) {
		note_output(job, true, main_path);
		return rc;
	}
	/* Somebody's file that only happens to have the name is not ours to step aside for. */
	if (rc == -EEXIST && cm_writer_is_profile(main_path)) {
		avoid_own_files(job);
		rc = rename(shard, job->names.other_path) < 0 ? -errno : 0;
		if (rc == 0)
			note_output(job, false, job->names.other_path);
		else
			cm_diag_set(&join_diag, rc, "%s: %s", job->names.other_path, strerror(-rc));
	}
	if (rc < 0) {
		unlink(shard); /* the spool is kept: this copy would only be in the way */
		cm_diag_set(job->diag, rc, "%s", join_diag.text);
	}
	return rc;
}

/* The bytes of all streams, thrice: pass 2 costs about twice pass 1. */
static uint64_t count_work(const struct cm_spool_reader *reader)
{
	uint64_t n = 1;

	for (size_t i = 0; i < reader->n_slots; i++) {
		const struct cm_slot *slot = &reader->slots[i];
		uint64_t end = slot->dat_bytes;

		for (size_t k = 0; k < slot->n_rings; k++) {
			if (slot->rings[k].base + slot->rings[k].n_bytes > end)
				end = slot->rings[k].base + slot->rings[k].n_bytes;
		}
		n += 3 * end;
	}
	return n;
}

static int fold_called(struct job *job)
{
	int rc = cm_counters_start(&job->counters, &job->reader, job->diag);

	if (rc >= 0)
		rc = cm_profile_build(&job->profile, &job->reader, &job->trace, &job->map,
				      &job->rank, job->diag);
	if (rc >= 0)
		rc = cm_profile_add_paths(&job->profile, &job->reader, &job->trace, &job->map,
					  job->options->progress, job->diag);
	if (rc >= 0)
		rc = job->names.has_main ? write_main(job) : write_other(job);
	cm_counters_free(job->counters);
	job->counters = NULL;
	return rc;
}

/* 1: a file was made, or there was nothing to make one of; 0: not for us. */
static int fold_spool(struct job *job)
{
	int rc = cm_names_find(&job->names, &job->reader, &job->rank, job->options->output,
			       job->diag);

	if (rc < 0)
		return rc;
	if (job->options->only_main && !job->names.has_main)
		return 0;
	cm_progress_start(&job->progress, job->options->progress, "callmark: collecting",
			  count_work(&job->reader));
	rc = cm_trace_scan(&job->trace, &job->progress, job->diag);
	if (rc >= 0 && job->trace.n_called > 0)
		rc = fold_called(job);
	cm_progress_stop(&job->progress);
	return rc < 0 ? rc : 1;
}

static int collect_locked(struct job *job)
{
	int rc = cm_spool_reader_open(&job->reader, job->path, job->diag);

	if (rc < 0)
		return rc;
	cm_rank_find(cm_spool_reader_getenv, &job->reader, &job->rank);
	rc = cm_spool_clock_init(&job->map, &job->reader);
	if (rc >= 0)
		rc = cm_trace_init(&job->trace, &job->reader, &job->map, job->diag);
	if (rc >= 0) {
		rc = fold_spool(job);
		cm_trace_fini(&job->trace);
	}
	cm_clock_map_fini(&job->map);
	cm_spool_reader_close(&job->reader);
	if (rc == -ENOMEM)
		cm_diag_set(job->diag, rc, "%s: not enough memory", job->path);
	return rc;
}

static int give_up_spool(struct job *job)
{
	int rc = cm_spool_set_done(job->lock_fd);

	/* A full disk cannot hold the mark; removing makes room, and needs none. */
	if (rc == -ENOSPC || rc == -EDQUOT)
		rc = 0;
	if (rc == 0)
		rc = cm_spool_remove(job->lock_fd, job->path);
	if (rc < 0)
		return cm_diag_set(job->diag, rc, "%s: collected, but cannot be removed: %s",
				   job->path, strerror(-rc));
	if (*job->run_path)
		cm_spool_run_remove(job->run_path, false);
	return 0;
}

int cm_collect_spool(const char *path, const struct cm_collect_options *options,
		     struct cm_diag *diag)
{
	struct job *job = calloc(1, sizeof(*job));
	int rc;

	if (!job)
		return cm_diag_set(diag, -ENOMEM, "%s: not enough memory", path);
	job->options = options;
	job->diag = diag;
	job->lock_fd = -1;
	if (!realpath(path, job->path)) {
		rc = -errno;
		cm_diag_set(diag, rc, "%s: cannot open the spool: %s", path, strerror(-rc));
		goto out;
	}
	rc = cm_spool_check_owner(job->path, diag);
	if (rc < 0)
		goto out;
	rc = cm_spool_lock(job->path, diag);
	if (rc < 0)
		goto out;
	job->lock_fd = rc;
	cm_spool_run_find(job->path, job->run_path);
	rc = cm_spool_is_done(job->lock_fd) || cm_spool_is_unborn(job->lock_fd)
		     ? 1
		     : collect_locked(job);
	if (rc > 0)
		rc = options->keep ? 0 : give_up_spool(job);
	close(job->lock_fd);
out:
	free(job);
	return rc;
}
