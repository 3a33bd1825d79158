/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers and texts of a profile into HDF5, driven by the lists of h5-schema.h. */
#include "writer/h5-profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-likwid.h"
#include "writer/h5-put.h"
#include "writer/h5-schema.h"
#include "writer/utf8.h"

/* The lists expand to calls that do nothing after the first failure. */
#define PUT(call)                  \
	do {                       \
		if (rc == 0)       \
			rc = call; \
	} while (0)

static int put_meta(hid_t group, const struct cm_meta *meta)
{
	switch (meta->kind) {
	case CM_META_STRING:
		return cm_h5_put_string(group, meta->name, meta->string);
	case CM_META_INT:
		return cm_h5_put_integer(group, meta->name, meta->integer);
	case CM_META_STRINGS:
		return cm_h5_put_strings(group, meta->name, meta->strings, meta->n_strings);
	}
	return -EINVAL;
}

int cm_h5_profile_put_metas(hid_t group, const struct cm_meta *metas, size_t n, const char *prefix)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const char *name = metas[i].name;

		if (!name[0] || !cm_utf8_is_valid(name) ||
		    strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		if (H5Aexists(group, name) == 0)
			rc = put_meta(group, &metas[i]);
	}
	return rc;
}

static int put_metadata(hid_t file, const struct cm_profile *profile)
{
	hid_t group = cm_h5_make_group(file, CM_H5_METADATA);
	int rc = group < 0 ? -EIO : 0;

	PUT(cm_h5_profile_put_metas(group, profile->metadata, profile->n_metadata, ""));
	if (rc == 0 && profile->mpi_size > 0 && H5Aexists(group, CM_H5_MPI_SIZE) == 0)
		rc = cm_h5_put_integer(group, CM_H5_MPI_SIZE, profile->mpi_size);
	cm_h5_close(group);
	return rc;
}

int cm_h5_profile_put_root(hid_t file, const struct cm_profile *profile)
{
	int rc = 0;

	PUT(cm_h5_put_integer(file, CM_H5_SCOPE_SCHEMA, CM_H5_SCHEMA_VERSION));
	PUT(cm_h5_put_integer(file, CM_H5_OUR_SCHEMA, CM_H5_SCHEMA_VERSION));
	PUT(cm_h5_put_string(file, CM_H5_VERSION, profile->version));
	PUT(cm_h5_put_string(file, CM_H5_RUN_ID, profile->run_id));
	PUT(cm_h5_put_integers(file, CM_H5_MISSING_RANKS, NULL, 0));
	PUT(put_metadata(file, profile));
	return rc;
}

/* A row of sites in memory is its members' pointers, in the order of the list. */
#define MEMBER(field) offsetof(struct cm_profile_site, field),
static const size_t site_offsets[] = {CM_H5_SITE_MEMBERS(MEMBER)};
#undef MEMBER
#define MEMBER(field) #field,
static const char *const site_names[] = {CM_H5_SITE_MEMBERS(MEMBER)};
#undef MEMBER
#define N_SITE_MEMBERS (sizeof(site_offsets) / sizeof(site_offsets[0]))

static const char *site_text(const void *ctx, size_t row, size_t member)
{
	const struct cm_profile_site *site = (const struct cm_profile_site *)ctx + row;
	const char *text;

	memcpy(&text, (const char *)site + site_offsets[member], sizeof(text));
	return text;
}

static int put_sites(hid_t rank, const struct cm_profile *profile)
{
	hid_t type = H5Tcreate(H5T_COMPOUND, N_SITE_MEMBERS * sizeof(char *));
	int rc = type < 0 ? -EIO : 0;

	for (size_t i = 0; i < N_SITE_MEMBERS && rc == 0; i++)
		if (H5Tinsert(type, site_names[i], i * sizeof(char *), cm_h5_string_type()) < 0)
			rc = -EIO;
	PUT(cm_h5_put_table(rank, CM_H5_SITES, type, N_SITE_MEMBERS, site_text, profile->sites,
			    profile->n_sites));
	cm_h5_close(type);
	return rc;
}

/* One field of the threads: a column of the group rank<N>/threads. */
struct thread_column {
	const struct cm_profile_thread *threads;
	size_t n;
	size_t offset; /* of the field */
};

static const char *thread_text(const void *ctx, size_t row, size_t member)
{
	const struct thread_column *column = ctx;
	const char *text;

	(void)member; /* a column has one */
	memcpy(&text, (const char *)&column->threads[row] + column->offset, sizeof(text));
	return text;
}

static int put_thread_integers(hid_t group, const char *name, const struct thread_column *column)
{
	int64_t *values = calloc(column->n + 1, sizeof(*values));
	int rc;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < column->n; i++)
		memcpy(&values[i], (const char *)&column->threads[i] + column->offset,
		       sizeof(values[i]));
	rc = cm_h5_put_array(group, name, H5T_NATIVE_INT64, values, column->n);
	free(values);
	return rc;
}

static int put_threads(hid_t rank, const struct cm_profile *profile)
{
	hid_t group = H5Gcreate2(rank, CM_H5_THREADS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	struct thread_column column = {profile->threads, profile->n_threads, 0};
	int rc = group < 0 ? -EIO : 0;

#define COLUMN(name, field)                                        \
	column.offset = offsetof(struct cm_profile_thread, field); \
	PUT(put_thread_integers(group, name, &column));
	CM_H5_THREAD_INTEGERS(COLUMN)
#undef COLUMN
#define COLUMN(name, field)                                        \
	column.offset = offsetof(struct cm_profile_thread, field); \
	PUT(cm_h5_put_table(group, name, cm_h5_string_type(), 1, thread_text, &column, column.n));
	CM_H5_THREAD_STRINGS(COLUMN)
#undef COLUMN
	cm_h5_close(group);
	return rc;
}

int cm_h5_profile_put_rank(hid_t rank, const struct cm_profile *profile)
{
	int rc = 0;

#define STRING(name, field) PUT(cm_h5_put_string(rank, name, profile->field));
	CM_H5_RANK_STRINGS(STRING)
#undef STRING
#define INTEGER(name, field) PUT(cm_h5_put_integer(rank, name, (int64_t)profile->field));
	CM_H5_RANK_INTEGERS(INTEGER)
#undef INTEGER
	if (profile->has_exit_status)
		PUT(cm_h5_put_integer(rank, CM_H5_EXIT_STATUS, profile->exit_status));
	if (!isnan(profile->overhead_ns_per_call))
		PUT(cm_h5_put_real(rank, CM_H5_OVERHEAD, profile->overhead_ns_per_call));
	PUT(cm_h5_put_list(rank, CM_H5_COMMAND_LINE, profile->command_line,
			   profile->n_command_line));
	PUT(cm_h5_put_list(rank, CM_H5_NEVER_CALLED, profile->never_called,
			   profile->n_never_called));
	PUT(cm_h5_put_list(rank, CM_H5_NOTES, profile->notes, profile->n_notes));
	PUT(put_sites(rank, profile));
	PUT(put_threads(rank, profile));
	PUT(cm_h5_likwid_put(rank, profile));
	return rc;
}

static int put_paths(hid_t region_group, const struct cm_profile_region *region)
{
	hid_t group = cm_h5_make_group(region_group, CM_H5_CALL_PATHS);
	int rc = group < 0 ? -EIO : 0;

	PUT(cm_h5_put_list(group, CM_H5_PATH_FRAMES, region->path_frames, region->n_paths));
	PUT(cm_h5_put_array(group, CM_H5_PATH_CALLS, H5T_NATIVE_UINT64, region->path_calls,
			    region->n_paths));
	PUT(cm_h5_put_array(group, CM_H5_PATH_TOTALS, H5T_NATIVE_INT64, region->path_total_ns,
			    region->n_paths));
	cm_h5_close(group);
	return rc;
}

int cm_h5_profile_put_region(hid_t group, const struct cm_profile_region *region)
{
	int rc = 0;

#define STRING(name, field) PUT(cm_h5_put_string(group, name, region->field));
	CM_H5_REGION_STRINGS(STRING)
#undef STRING
#define INTEGER(name, field) PUT(cm_h5_put_integer(group, name, (int64_t)region->field));
	CM_H5_REGION_INTEGERS(INTEGER)
#undef INTEGER
	PUT(cm_h5_put_real(group, CM_H5_SUM_SQ, region->sum_sq_ns2));
	if (!cm_utf8_is_valid(region->tag))
		PUT(cm_h5_put_bytes(group, CM_H5_TAG_BYTES, region->tag, strlen(region->tag)));
	if (region->source_file) {
		PUT(cm_h5_put_string(group, CM_H5_SOURCE_FILE, region->source_file));
		PUT(cm_h5_put_integer(group, CM_H5_SOURCE_LINENO, region->source_lineno));
	}
	if (region->has_paths)
		PUT(put_paths(group, region));
	PUT(cm_h5_put_list(group, CM_H5_REGION_SYMBOLS, region->symbols, region->n_symbols));
	PUT(cm_h5_put_array(group, CM_H5_REGION_HISTOGRAM, H5T_NATIVE_UINT64, region->histogram,
			    CM_PROFILE_N_BUCKETS));
	return rc;
}
