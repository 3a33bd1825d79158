/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inside of libcallmark.so's struct callmark_results: what writer/results.h loaded, and the
 * structures of callmark/results.h that point into it.
 *
 *	library.c         open, close and every look-up
 *	library-fill.c    one rank's structures, made once by open
 *
 * Everything is in the store. One thread at a time. Errors: negative errno.
 */
#ifndef CALLMARK_WRITER_LIBRARY_H
#define CALLMARK_WRITER_LIBRARY_H

#include <callmark/results.h>

#include "writer/results.h"
#include "writer/text-store.h"

struct cm_library_region {
	struct callmark_results_region shown; /* first: the caller's pointer is ours */
	size_t rank_idx, region_idx;	      /* as cm_results_read_calls() wants them */
};

struct cm_library_rank {
	struct callmark_results_rank shown;
	struct callmark_results_thread *threads;
	struct cm_library_region *regions;
	struct callmark_results_likwid *likwid;
};

struct callmark_results {
	struct cm_results *loaded;
	struct cm_text_store store;
	struct callmark_results_metadata *metadata;
	size_t n_metadata;
	struct cm_library_rank *ranks;
	int64_t *rank_numbers; /* [n_ranks], ascending */
	size_t n_ranks;
	int64_t *likwid_ranks;
	size_t n_likwid_ranks;
};

/* Rank idx of results->loaded into results->ranks[idx]. -ENOMEM. */
int cm_library_fill_rank(struct callmark_results *results, size_t idx);

#endif
