/* SPDX-License-Identifier: BSD-3-Clause */
/* libcallmark.so: the reader of writer/results.h as callmark/results.h shows it. */
#include "writer/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-guest.h"

static struct callmark_results_metadata show_metadata(const struct cm_meta *from)
{
	static const enum callmark_results_kind kinds[] = {
		[CM_META_STRING] = CALLMARK_RESULTS_STRING,
		[CM_META_INT] = CALLMARK_RESULTS_INT,
		[CM_META_STRINGS] = CALLMARK_RESULTS_STRINGS,
	};

	return (struct callmark_results_metadata){
		.name = from->name,
		.kind = kinds[from->kind],
		.string = from->string ? from->string : "",
		.integer = from->integer,
		.strings = from->strings,
		.n_strings = from->n_strings,
	};
}

static int fill_metadata(struct callmark_results *results)
{
	size_t n;
	const struct cm_meta *from = cm_results_metadata(results->loaded, &n);

	results->metadata = cm_text_store_alloc(&results->store, n, sizeof(*results->metadata));
	if (!results->metadata)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		results->metadata[i] = show_metadata(&from[i]);
	results->n_metadata = n;
	return 0;
}

static int fill(struct callmark_results *results)
{
	struct cm_text_store *store = &results->store;
	size_t n = cm_results_n_ranks(results->loaded);
	int rc = fill_metadata(results);

	results->ranks = cm_text_store_alloc(store, n, sizeof(*results->ranks));
	results->rank_numbers = cm_text_store_alloc(store, n, sizeof(*results->rank_numbers));
	results->likwid_ranks = cm_text_store_alloc(store, n, sizeof(*results->likwid_ranks));
	if (!results->ranks || !results->rank_numbers || !results->likwid_ranks)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		rc = cm_library_fill_rank(results, i);
		results->rank_numbers[i] = results->ranks[i].shown.rank;
		if (results->ranks[i].shown.has_likwid)
			results->likwid_ranks[results->n_likwid_ranks++] = results->rank_numbers[i];
	}
	results->n_ranks = n;
	return rc;
}

static int fail(int rc, const char *text, char *error, size_t error_bytes)
{
	if (error && error_bytes)
		snprintf(error, error_bytes, "%s", text);
	return rc;
}

int callmark_results_open(const char *path, struct callmark_results **ret_results, char *error,
			  size_t error_bytes)
{
	struct callmark_results *results = calloc(1, sizeof(*results));
	struct cm_diag diag = {0};
	int rc;

	if (!results)
		return fail(-ENOMEM, "out of memory", error, error_bytes);
	cm_text_store_init(&results->store, SIZE_MAX / 2);
	cm_h5_guest_enter();
	rc = cm_results_open(&results->loaded, path, &diag);
	cm_h5_guest_leave();
	if (rc == 0 && fill(results) < 0)
		rc = cm_diag_set(&diag, -ENOMEM, "%s: out of memory", path);
	if (rc < 0) {
		callmark_results_close(results);
		return fail(rc, diag.text, error, error_bytes);
	}
	*ret_results = results;
	return 0;
}

void callmark_results_close(struct callmark_results *results)
{
	if (!results)
		return;
	cm_h5_guest_enter();
	cm_results_close(results->loaded);
	cm_h5_guest_leave();
	cm_text_store_fini(&results->store);
	free(results);
}

const char *callmark_results_version(const struct callmark_results *results)
{
	return cm_results_version(results->loaded);
}

const char *callmark_results_run_id(const struct callmark_results *results)
{
	return cm_results_run_id(results->loaded);
}

const struct callmark_results_metadata *
callmark_results_metadata(const struct callmark_results *results, size_t i)
{
	return i < results->n_metadata ? &results->metadata[i] : NULL;
}

const struct callmark_results_metadata *
callmark_results_find_metadata(const struct callmark_results *results, const char *name)
{
	for (size_t i = 0; i < results->n_metadata; i++)
		if (strcmp(results->metadata[i].name, name) == 0)
			return &results->metadata[i];
	return NULL;
}

size_t callmark_results_ranks(const struct callmark_results *results, const int64_t **ret_ranks)
{
	if (ret_ranks)
		*ret_ranks = results->rank_numbers;
	return results->n_ranks;
}

size_t callmark_results_missing_ranks(const struct callmark_results *results,
				      const int64_t **ret_ranks)
{
	size_t n;
	const int64_t *missing = cm_results_missing_ranks(results->loaded, &n);

	if (ret_ranks)
		*ret_ranks = missing;
	return n;
}

size_t callmark_results_likwid_ranks(const struct callmark_results *results,
				     const int64_t **ret_ranks)
{
	if (ret_ranks)
		*ret_ranks = results->likwid_ranks;
	return results->n_likwid_ranks;
}

bool callmark_results_has_likwid(const struct callmark_results *results)
{
	return results->n_likwid_ranks > 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static const struct cm_library_rank *find_rank(const struct callmark_results *results, int64_t rank)
{
	const int64_t *found = NULL;

	if (results->n_ranks)
		found = bsearch(&rank, results->rank_numbers, results->n_ranks, sizeof(rank),
				compare_numbers);
	return found ? &results->ranks[found - results->rank_numbers] : NULL;
}

const struct callmark_results_rank *callmark_results_rank(const struct callmark_results *results,
							  int64_t rank)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	return found ? &found->shown : NULL;
}

const struct callmark_results_thread *
callmark_results_thread(const struct callmark_results *results, int64_t rank, size_t i)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	return found && i < found->shown.n_threads ? &found->threads[i] : NULL;
}

const struct callmark_results_region *
callmark_results_region(const struct callmark_results *results, int64_t rank, size_t i)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	return found && i < found->shown.n_regions ? &found->regions[i].shown : NULL;
}

const struct callmark_results_region *
callmark_results_find_region(const struct callmark_results *results, int64_t rank, const char *tag)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	for (size_t i = 0; found && i < found->shown.n_regions; i++)
		if (strcmp(found->regions[i].shown.tag, tag) == 0)
			return &found->regions[i].shown;
	return NULL;
}

int callmark_results_read_calls(struct callmark_results *results,
				const struct callmark_results_region *region, uint64_t first,
				size_t n, int64_t *ret_starts_ns, int64_t *ret_ends_ns,
				int32_t *ret_threads, char *error, size_t error_bytes)
{
	const struct cm_library_region *ours = (const struct cm_library_region *)region;
	struct cm_diag diag = {0};
	int rc;

	cm_h5_guest_enter();
	rc = cm_results_read_calls(results->loaded, ours->rank_idx, ours->region_idx, first, n,
				   ret_starts_ns, ret_ends_ns, ret_threads, &diag);
	cm_h5_guest_leave();
	return rc < 0 ? fail(rc, diag.text, error, error_bytes) : 0;
}

const struct callmark_results_likwid *
callmark_results_likwid(const struct callmark_results *results, int64_t rank, size_t i)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	return found && i < found->shown.n_likwid ? &found->likwid[i] : NULL;
}

const struct callmark_results_likwid *
callmark_results_find_likwid(const struct callmark_results *results, int64_t rank, const char *tag,
			     const char *group_name)
{
	const struct cm_library_rank *found = find_rank(results, rank);

	for (size_t i = 0; found && i < found->shown.n_likwid; i++)
		if (strcmp(found->likwid[i].tag, tag) == 0 &&
		    (!group_name || strcmp(found->likwid[i].group_name, group_name) == 0))
			return &found->likwid[i];
	return NULL;
}

const char *callmark_results_likwid_variable(const struct callmark_results *results, int64_t rank,
					     const char *name)
{
	const struct callmark_results_rank *found = callmark_results_rank(results, rank);

	for (size_t i = 0; found && i < found->n_likwid_variables; i++)
		if (strcmp(found->likwid_variables[i], name) == 0)
			return found->likwid_values[i];
	return NULL;
}
