/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of struct cm_results, and the loaders of its parts.
 *
 * Everything but the traces is loaded by open; it lives in the store. A rank that is an external
 * link is loaded from its own file, which is open only meanwhile. Errors: negative errno and a
 * line in diag. One thread at a time.
 */
#ifndef CALLMARK_WRITER_H5_LOAD_H
#define CALLMARK_WRITER_H5_LOAD_H

#include <stdint.h>

#include <hdf5.h>

#include "writer/results.h"
#include "writer/text-store.h"

struct cm_loaded_rank {
	struct cm_result_rank result;
	const char *path;  /* of the file it is in */
	const char *group; /* "rank3" */
	const char *const *region_groups;
};

/* The datasets that cm_results_read_calls() used last, open. */
struct cm_load_cursor {
	hid_t file, starts, ends, threads; /* threads: H5I_INVALID_HID where there are none */
	size_t rank_idx, region_idx;
};

struct cm_results {
	const char *path;
	struct cm_text_store store;
	const struct cm_meta *metadata;
	size_t n_metadata;
	const char *run_id;
	const char *version;
	int64_t mpi_size;
	int64_t *missing; /* malloc; ascending */
	size_t n_missing;
	struct cm_loaded_rank *ranks; /* malloc; ascending */
	size_t n_ranks;
	struct cm_load_cursor cursor;
};

/* Where a loader reads from. */
struct cm_load_source {
	struct cm_text_store *store;
	const char *path;
	hid_t file;
	uint64_t n_file_bytes;
	size_t n_threads; /* of the rank that is being loaded */
};

/* Names of the links in a group. Free with free(items); the names are in the store. */
struct cm_load_names {
	struct cm_load_name {
		const char *name;
		H5L_type_t type;
	} * items;
	size_t n, n_room;
	struct cm_text_store *store;
};

int cm_load_names(struct cm_load_names *names, hid_t group, struct cm_text_store *store);

/* "rank<N>" gives N; -EINVAL for any other name. */
int cm_load_rank_number(const char *name, int64_t *ret_rank);

/* rank->group in source, with all its regions. */
int cm_load_rank(struct cm_load_source *source, struct cm_loaded_rank *rank, struct cm_diag *diag);

/* One region's group. */
int cm_load_region(const struct cm_load_source *source, hid_t group, const char *name,
		   struct cm_result_region *region, struct cm_diag *diag);

/* What a rank has about hardware counters. */
int cm_load_likwid(const struct cm_load_source *source, hid_t rank_group,
		   struct cm_result_rank *rank, struct cm_diag *diag);

/* Rows of an integer dataset as int64. -EINVAL. */
int cm_load_rows(hid_t set, uint64_t first, size_t n, int64_t *values);

#endif
