/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a file and its list of ranks. */
#include "writer/h5-load-root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"

/* How much the texts and tables of a file may take: its size can grow this much in memory. */
#define LIMIT_FACTOR 64
#define LIMIT_BASE ((size_t)64 << 20)

static size_t limit_of(uint64_t n_file_bytes)
{
	size_t limit;

	if (__builtin_mul_overflow(n_file_bytes, LIMIT_FACTOR, &limit) ||
	    limit > SIZE_MAX / 2 - LIMIT_BASE)
		return SIZE_MAX / 2;
	return limit + LIMIT_BASE;
}

static int open_source(struct cm_load_source *source, struct cm_results *results, const char *path,
		       struct cm_diag *diag)
{
	hsize_t n_bytes;
	int rc = cm_h5_open_file(path, &source->file, diag);

	if (rc < 0)
		return rc;
	if (H5Fget_filesize(source->file, &n_bytes) < 0) {
		cm_h5_close_file(source->file);
		return cm_h5_fail(diag, -EINVAL, path, "has no size");
	}
	source->path = path;
	source->n_file_bytes = n_bytes;
	source->store = &results->store;
	if (results->store.n_left < SIZE_MAX / 4)
		results->store.n_left += limit_of(n_bytes);
	return 0;
}

static void keep_known_numbers(struct cm_results *results)
{
	results->mpi_size = 1;
	for (size_t i = 0; i < results->n_metadata; i++)
		if (results->metadata[i].kind == CM_META_INT &&
		    strcmp(results->metadata[i].name, CM_H5_MPI_SIZE) == 0)
			results->mpi_size = results->metadata[i].integer;
}

static int read_missing(struct cm_results *results, hid_t file)
{
	const int64_t *values;
	size_t n = 0;
	int rc = cm_h5_get_integers(file, CM_H5_MISSING_RANKS, &results->store, &values, &n);

	if (rc <= 0 || n == 0)
		return rc < 0 ? rc : 0;
	results->missing = malloc(n * sizeof(*values));
	if (!results->missing)
		return -ENOMEM;
	memcpy(results->missing, values, n * sizeof(*values));
	results->n_missing = n;
	return 0;
}

static int read_root(struct cm_results *results, const struct cm_load_source *source)
{
	hid_t group = cm_h5_open_child(source->file, CM_H5_METADATA, H5I_GROUP);
	int64_t schema = CM_H5_SCHEMA_VERSION, ours = CM_H5_SCHEMA_VERSION;
	int rc = 0;

	if (group >= 0)
		rc = cm_h5_get_metadata(group, &results->store, &results->metadata,
					&results->n_metadata);
	cm_h5_close(group);
	if (rc >= 0)
		rc = cm_h5_get_integer(source->file, CM_H5_SCOPE_SCHEMA, &schema);
	if (rc >= 0)
		rc = cm_h5_get_integer(source->file, CM_H5_OUR_SCHEMA, &ours);
	if (rc >= 0 && (schema != CM_H5_SCHEMA_VERSION || ours != CM_H5_SCHEMA_VERSION))
		rc = -EPROTO;
	if (rc >= 0)
		rc = cm_h5_get_string(source->file, CM_H5_RUN_ID, &results->store,
				      &results->run_id);
	if (rc >= 0)
		rc = cm_h5_get_string(source->file, CM_H5_VERSION, &results->store,
				      &results->version);
	if (rc >= 0)
		rc = read_missing(results, source->file);
	keep_known_numbers(results);
	return rc < 0 ? rc : 0;
}

/* A rank whose file is gone is one of the missing. */
static int add_missing(struct cm_results *results, int64_t rank)
{
	int64_t *missing = reallocarray(results->missing, results->n_missing + 1, sizeof(rank));

	if (!missing)
		return -ENOMEM;
	missing[results->n_missing++] = rank;
	results->missing = missing;
	return 0;
}

static int load_from(struct cm_results *results, const char *target, const char *group,
		     struct cm_loaded_rank *rank, struct cm_diag *diag)
{
	struct cm_load_source linked;
	int rc = open_source(&linked, results, target, diag);

	if (rc < 0)
		return rc;
	rank->path = cm_text_store_copy(&results->store, target, strlen(target));
	rank->group = cm_text_store_copy(&results->store, group, strlen(group));
	linked.path = rank->path;
	rc = rank->path && rank->group ? cm_load_rank(&linked, rank, diag) : -EFBIG;
	cm_h5_close_file(linked.file);
	return rc;
}

static int load_linked(struct cm_results *results, const struct cm_load_source *source,
		       struct cm_loaded_rank *rank, struct cm_diag *diag)
{
	char *target = NULL, *group = NULL;
	int rc = cm_load_link(source->file, source->path, rank->group, &target, &group);

	if (rc == -EINVAL)
		(void)cm_diag_set(diag, rc, "%s: %s links to a file outside of its folder",
				  source->path, rank->group);
	if (rc < 0)
		return rc;
	rc = load_from(results, target, group, rank, diag);
	free(target);
	free(group);
	/* What was there a moment ago is damage now, not absence. */
	return rc == -ENOENT ? -EINVAL : rc;
}

static int add_rank(struct cm_results *results, struct cm_load_source *source,
		    const struct cm_load_name *link, struct cm_diag *diag)
{
	struct cm_loaded_rank *rank = &results->ranks[results->n_ranks];
	int rc;

	*rank = (struct cm_loaded_rank){.path = results->path, .group = link->name};
	if (cm_load_rank_number(link->name, &rank->result.rank) < 0)
		return 0; /* not ours, and not scope-profiler's */
	if (link->type == H5L_TYPE_HARD) {
		rc = cm_load_rank(source, rank, diag);
	} else if (link->type == H5L_TYPE_EXTERNAL) {
		rc = load_linked(results, source, rank, diag);
		if (rc == -ENOENT)
			return add_missing(results, rank->result.rank);
	} else {
		rc = cm_diag_set(diag, -EINVAL, "%s: %s is a soft link", source->path, link->name);
	}
	if (rc == 0)
		results->n_ranks++;
	return rc;
}

static int compare_ranks(const void *a, const void *b)
{
	const struct cm_loaded_rank *x = a, *y = b;

	return (x->result.rank > y->result.rank) - (x->result.rank < y->result.rank);
}

static int compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static const struct cm_loaded_rank *find_rank(const struct cm_results *results, int64_t rank)
{
	struct cm_loaded_rank key = {.result.rank = rank};

	if (!results->n_ranks)
		return NULL;
	return bsearch(&key, results->ranks, results->n_ranks, sizeof(key), compare_ranks);
}

/* Ascending, each rank once; one that came after the file was written is not missing. */
static int sort_ranks(struct cm_results *results)
{
	size_t n = 0;

	if (results->n_ranks)
		qsort(results->ranks, results->n_ranks, sizeof(*results->ranks), compare_ranks);
	for (size_t i = 1; i < results->n_ranks; i++)
		if (results->ranks[i].result.rank == results->ranks[i - 1].result.rank)
			return -EINVAL;
	if (results->n_missing)
		qsort(results->missing, results->n_missing, sizeof(*results->missing),
		      compare_numbers);
	for (size_t i = 0; i < results->n_missing; i++)
		if ((n == 0 || results->missing[i] != results->missing[n - 1]) &&
		    !find_rank(results, results->missing[i]))
			results->missing[n++] = results->missing[i];
	results->n_missing = n;
	return 0;
}

static int add_waiting(struct cm_results *results, int64_t number, struct cm_diag *diag)
{
	struct cm_loaded_rank *rank = &results->ranks[results->n_ranks];
	char group[32], *target;
	int rc;

	*rank = (struct cm_loaded_rank){.result.rank = number};
	rc = cm_load_shard(results->path, results->run_id, number, &target);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0; /* it has moved on, or leads elsewhere */
	snprintf(group, sizeof(group), CM_H5_RANK_PREFIX "%lld", (long long)number);
	rc = load_from(results, target, group, rank, diag);
	results->n_ranks += rc == 0;
	free(target);
	return rc == -ENOENT ? 0 : rc;
}

/* Ranks that have come since the file was written. */
static int read_waiting(struct cm_results *results, struct cm_diag *diag)
{
	struct cm_loaded_rank *ranks;
	int64_t *waiting;
	size_t n, n_known = results->n_ranks;
	int rc = cm_load_waiting(results->path, results->run_id, &waiting, &n);

	if (rc < 0 || n == 0)
		return 0; /* a folder that cannot be read has nothing for us */
	ranks = reallocarray(results->ranks, n_known + n + 1, sizeof(*ranks));
	if (ranks)
		results->ranks = ranks;
	else
		rc = -ENOMEM;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct cm_loaded_rank key = {.result.rank = waiting[i]};

		if (!bsearch(&key, results->ranks, n_known, sizeof(key), compare_ranks))
			rc = add_waiting(results, waiting[i], diag);
	}
	free(waiting);
	return rc < 0 ? rc : sort_ranks(results);
}

static int read_ranks(struct cm_results *results, struct cm_load_source *source,
		      struct cm_diag *diag)
{
	struct cm_load_names names;
	int rc = cm_load_names(&names, source->file, &results->store);

	if (rc < 0)
		return rc;
	results->ranks = calloc(names.n + 1, sizeof(*results->ranks));
	if (!results->ranks)
		rc = -ENOMEM;
	for (size_t i = 0; i < names.n && rc == 0; i++)
		rc = add_rank(results, source, &names.items[i], diag);
	free(names.items);
	if (rc == 0)
		rc = sort_ranks(results);
	return rc < 0 ? rc : read_waiting(results, diag);
}

/* Some other HDF5 file has neither a rank nor a schema attribute. */
static bool is_foreign(const struct cm_results *results, hid_t file)
{
	return !results->n_ranks && !results->n_missing && H5Aexists(file, CM_H5_OUR_SCHEMA) <= 0 &&
	       H5Aexists(file, CM_H5_SCOPE_SCHEMA) <= 0;
}

int cm_load_root(struct cm_results *results, struct cm_diag *diag)
{
	struct cm_load_source source;
	int rc = open_source(&source, results, results->path, diag);

	if (rc < 0)
		return rc;
	rc = read_root(results, &source);
	if (rc == 0)
		rc = read_ranks(results, &source, diag);
	if (rc == 0 && is_foreign(results, source.file))
		rc = cm_diag_set(diag, -EINVAL, "%s: an HDF5 file, but not a profile",
				 results->path);
	if (rc == -EPROTO)
		rc = cm_diag_set(diag, -EINVAL, "%s: made by a newer version (its schema is not 1)",
				 results->path);
	else if (rc == -EINVAL)
		rc = cm_h5_fail(diag, rc, results->path, "not as the format says");
	else if (rc < 0)
		rc = cm_diag_set(diag, rc, "%s: %s", results->path,
				 rc == -EFBIG ? "its texts are larger than the file allows"
					      : strerror(-rc));
	(void)H5Eclear2(H5E_DEFAULT); /* of look-ups that may fail */
	cm_h5_close_file(source.file);
	return rc;
}
