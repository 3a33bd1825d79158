/* SPDX-License-Identifier: BSD-3-Clause */
/* The public reader (writer/results.h). */
#include "writer/results.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-load-root.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"

static const struct cm_load_cursor no_cursor = {
	.file = H5I_INVALID_HID,
	.starts = H5I_INVALID_HID,
	.ends = H5I_INVALID_HID,
	.threads = H5I_INVALID_HID,
};

static void close_sets(struct cm_load_cursor *cursor)
{
	cm_h5_close(cursor->starts);
	cm_h5_close(cursor->ends);
	cm_h5_close(cursor->threads);
	cursor->starts = cursor->ends = cursor->threads = H5I_INVALID_HID;
}

static void close_cursor(struct cm_load_cursor *cursor)
{
	close_sets(cursor);
	cm_h5_close_file(cursor->file);
	*cursor = no_cursor;
}

void cm_results_close(struct cm_results *results)
{
	if (!results)
		return;
	close_cursor(&results->cursor);
	free(results->ranks);
	free(results->missing);
	cm_text_store_fini(&results->store);
	free((char *)results->path);
	free(results);
}

int cm_results_open(struct cm_results **ret_results, const char *path, struct cm_diag *diag)
{
	struct cm_results *results = calloc(1, sizeof(*results));
	int rc;

	if (results) {
		results->cursor = no_cursor;
		results->run_id = results->version = "";
		results->path = strdup(path);
	}
	if (!results || !results->path) {
		free(results);
		return cm_diag_set(diag, -ENOMEM, "%s: out of memory", path);
	}
	rc = cm_load_try(results, diag);
	if (rc == 0)
		rc = cm_load_root(results, diag);
	if (rc < 0) {
		cm_results_close(results);
		return rc;
	}
	*ret_results = results;
	return 0;
}

const struct cm_meta *cm_results_metadata(const struct cm_results *results, size_t *ret_n)
{
	*ret_n = results->n_metadata;
	return results->metadata;
}

const char *cm_results_run_id(const struct cm_results *results)
{
	return results->run_id;
}

const char *cm_results_version(const struct cm_results *results)
{
	return results->version;
}

int64_t cm_results_mpi_size(const struct cm_results *results)
{
	return results->mpi_size;
}

const int64_t *cm_results_missing_ranks(const struct cm_results *results, size_t *ret_n)
{
	*ret_n = results->n_missing;
	return results->missing;
}

size_t cm_results_n_ranks(const struct cm_results *results)
{
	return results->n_ranks;
}

const struct cm_result_rank *cm_results_rank(const struct cm_results *results, size_t idx)
{
	return idx < results->n_ranks ? &results->ranks[idx].result : NULL;
}

/* The datasets of one region, checked again: the file may be another one by now. */
static int open_sets(struct cm_load_cursor *cursor, const struct cm_loaded_rank *rank,
		     size_t region_idx)
{
	hid_t group = cm_h5_open_child(cursor->file, rank->group, H5I_GROUP);
	hid_t regions = H5I_INVALID_HID, region = H5I_INVALID_HID;
	uint64_t n[3] = {0}, n_rows = rank->result.regions[region_idx].n_calls;
	hsize_t n_bytes = 0;
	bool is_constant;
	int rc = -EINVAL;

	if (group >= 0)
		regions = cm_h5_open_child(group, CM_H5_REGIONS, H5I_GROUP);
	if (regions >= 0)
		region = cm_h5_open_child(regions, rank->region_groups[region_idx], H5I_GROUP);
	if (region >= 0 && H5Fget_filesize(cursor->file, &n_bytes) >= 0) {
		cursor->starts = cm_h5_open_child(region, CM_H5_START_TIMES, H5I_DATASET);
		cursor->ends = cm_h5_open_child(region, CM_H5_END_TIMES, H5I_DATASET);
		cursor->threads = cm_h5_open_child(region, CM_H5_REGION_THREADS, H5I_DATASET);
	}
	if (cursor->starts >= 0 && cursor->ends >= 0 &&
	    cm_h5_count_rows(cursor->starts, n_bytes, &n[0], &is_constant) == 0 &&
	    cm_h5_count_rows(cursor->ends, n_bytes, &n[1], &is_constant) == 0 && n[0] == n_rows &&
	    n[1] == n_rows &&
	    (cursor->threads < 0 ||
	     (cm_h5_count_rows(cursor->threads, n_bytes, &n[2], &is_constant) == 0 &&
	      n[2] == n_rows)))
		rc = 0;
	cm_h5_close(region);
	cm_h5_close(regions);
	cm_h5_close(group);
	if (rc < 0)
		close_sets(cursor);
	return rc;
}

static int move_cursor(struct cm_results *results, size_t rank_idx, size_t region_idx,
		       struct cm_diag *diag)
{
	struct cm_load_cursor *cursor = &results->cursor;
	const struct cm_loaded_rank *rank = &results->ranks[rank_idx];
	int rc = 0;

	if (cursor->starts >= 0 && cursor->rank_idx == rank_idx && cursor->region_idx == region_idx)
		return 0;
	close_sets(cursor);
	if (cursor->file >= 0 && strcmp(rank->path, results->ranks[cursor->rank_idx].path) != 0)
		close_cursor(cursor);
	if (cursor->file < 0)
		rc = cm_h5_open_file(rank->path, &cursor->file, diag);
	if (rc < 0)
		return rc;
	cursor->rank_idx = rank_idx;
	cursor->region_idx = region_idx;
	rc = open_sets(cursor, rank, region_idx);
	if (rc < 0)
		return cm_h5_fail(diag, rc, rank->path, "has changed since it was opened");
	return 0;
}

/* What is no row of the rank's threads becomes -1: callers use it as an index. */
static int read_threads(hid_t set, uint64_t first, size_t n, size_t n_threads, int32_t *threads)
{
	hsize_t start = first, count = n;
	hid_t space, memory;
	int rc = -EINVAL;

	if (set < 0) {
		for (size_t i = 0; i < n; i++)
			threads[i] = -1;
		return 0;
	}
	space = H5Dget_space(set);
	memory = H5Screate_simple(1, &count, NULL);
	if (space >= 0 && memory >= 0 &&
	    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0 &&
	    H5Dread(set, H5T_NATIVE_INT32, memory, space, H5P_DEFAULT, threads) >= 0)
		rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (threads[i] < 0 || (size_t)threads[i] >= n_threads)
			threads[i] = -1;
	cm_h5_close(memory);
	cm_h5_close(space);
	return rc;
}

int cm_results_read_calls(struct cm_results *results, size_t rank_idx, size_t region_idx,
			  uint64_t first, size_t n, int64_t *ret_starts, int64_t *ret_ends,
			  int32_t *ret_threads, struct cm_diag *diag)
{
	const struct cm_loaded_rank *rank;
	uint64_t n_calls;
	int rc;

	if (rank_idx >= results->n_ranks || region_idx >= results->ranks[rank_idx].result.n_regions)
		return cm_diag_set(diag, -ERANGE, "%s: no such region", results->path);
	rank = &results->ranks[rank_idx];
	n_calls = rank->result.regions[region_idx].n_calls;
	if (first > n_calls || n > n_calls - first)
		return cm_diag_set(diag, -ERANGE, "%s: past the end of a region", results->path);
	if (n == 0)
		return 0;
	rc = move_cursor(results, rank_idx, region_idx, diag);
	if (rc < 0)
		return rc;
	if (ret_starts)
		rc = cm_load_rows(results->cursor.starts, first, n, ret_starts);
	if (rc == 0 && ret_ends)
		rc = cm_load_rows(results->cursor.ends, first, n, ret_ends);
	if (rc == 0 && ret_threads)
		rc = read_threads(results->cursor.threads, first, n, rank->result.n_threads,
				  ret_threads);
	if (rc < 0)
		return cm_h5_fail(diag, rc, rank->path, "cannot read the calls");
	return 0;
}
