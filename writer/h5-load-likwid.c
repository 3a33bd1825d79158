/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has about hardware counters, ours or scope-profiler's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-load.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"

/* A list of names: the attribute, or, where that has no room, a dataset of the same name. */
static int read_names(const struct cm_load_source *source, hid_t group, const char *name,
		      const char *const **texts, size_t *n)
{
	int rc = cm_h5_get_list(group, name, source->n_file_bytes, source->store, texts, n);

	if (rc == 0)
		rc = cm_h5_get_strings(group, name, source->store, texts, n);
	return rc < 0 ? rc : 0;
}

/* Values without a name (scope-profiler's marker_api) are called after their place. */
static int name_by_place(struct cm_text_store *store, const char *prefix, size_t n,
			 const char *const **ret_texts)
{
	const char **texts = cm_text_store_alloc(store, n, sizeof(*texts));
	char text[32];

	for (size_t i = 0; texts && i < n; i++) {
		int n_bytes = snprintf(text, sizeof(text), "%s_%zu", prefix, i);

		texts[i] = cm_text_store_copy(store, text, (size_t)n_bytes);
		if (!texts[i])
			return -EFBIG;
	}
	*ret_texts = texts;
	return texts ? 0 : -EFBIG;
}

/* What read_matrix() works on: n names, and the values that belong to them. */
struct table {
	const char *prefix;
	const char *const **texts;
	size_t n;
	const double **values;
};

/* A row for each name and a column for each hardware thread. */
static int read_matrix(const struct cm_load_source *source, hid_t group, const char *name,
		       size_t n_columns, struct table *table)
{
	size_t n_rows = 0, n_found = 0;
	int rc = cm_h5_get_matrix(group, name, source->n_file_bytes, source->store, table->values,
				  &n_rows, &n_found);

	if (rc < 0)
		return rc;
	if (n_rows > CM_H5_MAX_ROWS || (n_rows && n_found != n_columns) ||
	    (table->n && table->n != n_rows))
		return -EINVAL;
	if (table->n == n_rows)
		return 0;
	table->n = n_rows;
	return name_by_place(source->store, table->prefix, n_rows, table->texts);
}

static int read_texts(const struct cm_load_source *source, hid_t group,
		      struct cm_profile_counters *counters)
{
	int rc = 0;

#define STRING(name, field) \
	if (rc >= 0)        \
		rc = cm_h5_get_string(group, name, source->store, &counters->field);
	CM_H5_COUNTERS_STRINGS(STRING)
#undef STRING
	if (rc >= 0)
		rc = cm_h5_get_bytes(group, CM_H5_TAG_BYTES, source->store, &counters->tag);
#define INTEGER(name, field) \
	if (rc >= 0)         \
		rc = cm_h5_get_integer(group, name, &counters->field);
	CM_H5_COUNTERS_INTEGERS(INTEGER)
#undef INTEGER
	return rc < 0 ? rc : 0;
}

/* All there, and all of one length. */
static int read_columns(const struct cm_load_source *source, hid_t group,
			struct cm_profile_counters *counters)
{
	size_t n = 0, n_cpus = SIZE_MAX;
	int rc = 1;

#define COLUMN(name, field, get)                                                                  \
	if (rc > 0)                                                                               \
		rc = get(group, name, source->n_file_bytes, source->store, &counters->field, &n); \
	if (rc > 0 && n_cpus == SIZE_MAX)                                                         \
		n_cpus = n;                                                                       \
	if (rc == 0 || n != n_cpus)                                                               \
		rc = -EINVAL;
#define INTEGER(name, field) COLUMN(name, field, cm_h5_get_array)
	CM_H5_COUNTERS_INTEGER_COLUMNS(INTEGER)
#undef INTEGER
#define REAL(name, field) COLUMN(name, field, cm_h5_get_reals)
	CM_H5_COUNTERS_REAL_COLUMNS(REAL)
#undef REAL
#undef COLUMN
	if (rc < 0)
		return rc;
	counters->n_cpus = n_cpus;
	return 0;
}

static int read_tables(const struct cm_load_source *source, hid_t group,
		       struct cm_profile_counters *counters)
{
	int rc = 0;

#define LIST(name, field, n)  \
	size_t n_##field = 0; \
	if (rc == 0)          \
		rc = read_names(source, group, name, &counters->field, &n_##field);
	CM_H5_COUNTERS_LISTS(LIST)
#undef LIST
#define MATRIX(name, field, n_rows, names, prefix)                                            \
	if (rc == 0) {                                                                        \
		struct table table = {prefix, &counters->names, n_##names, &counters->field}; \
		rc = read_matrix(source, group, name, counters->n_cpus, &table);              \
		counters->n_rows = table.n;                                                   \
	}
	CM_H5_COUNTERS_MATRICES(MATRIX)
#undef MATRIX
	if (rc == 0 && n_counter_names == 0)
		counters->counter_names = NULL;
	else if (rc == 0 && n_counter_names != counters->n_events)
		rc = -EINVAL;
	return rc;
}

static int read_counters(const struct cm_load_source *source, hid_t group, const char *name,
			 struct cm_profile_counters *counters)
{
	int rc;

	*counters = (struct cm_profile_counters){.tag = name, .group_name = "", .source = ""};
	rc = read_texts(source, group, counters);
	if (rc == 0)
		rc = read_columns(source, group, counters);
	if (rc == 0)
		rc = read_tables(source, group, counters);
	return rc;
}

static int read_regions(const struct cm_load_source *source, hid_t likwid,
			struct cm_result_rank *rank)
{
	hid_t regions = cm_h5_open_child(likwid, CM_H5_LIKWID_REGIONS, H5I_GROUP);
	struct cm_profile_counters *counters = NULL;
	struct cm_load_names names;
	size_t n = 0;
	int rc;

	if (regions < 0)
		return 0;
	rc = cm_load_names(&names, regions, source->store);
	if (rc == 0) {
		counters = cm_text_store_alloc(source->store, names.n, sizeof(*counters));
		rc = counters ? 0 : -EFBIG;
	}
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		const char *name = names.items[i].name;
		hid_t group = cm_h5_open_child(regions, name, H5I_GROUP);

		if (group < 0)
			continue; /* a link out of here */
		rc = read_counters(source, group, name, &counters[n++]);
		cm_h5_close(group);
	}
	rank->counters = counters;
	rank->n_counters = n;
	free(names.items);
	cm_h5_close(regions);
	return rc;
}

/* Keep the metas of this kind whose names begin with the prefix; in place. Returns how many. */
static size_t keep_prefixed(struct cm_meta *metas, size_t n, enum cm_meta_kind kind,
			    const char *prefix)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < n; i++)
		if (metas[i].kind == kind && strncmp(metas[i].name, prefix, strlen(prefix)) == 0)
			metas[n_kept++] = metas[i];
	return n_kept;
}

static int read_environment(const struct cm_load_source *source, hid_t likwid,
			    struct cm_result_rank *rank)
{
	const struct cm_meta *metas;
	size_t n;
	int rc = cm_h5_get_metadata(likwid, source->store, &metas, &n);

	if (rc < 0)
		return rc;
	/* They are ours, and nobody else has them. */
	rank->n_likwid_environment =
		keep_prefixed((struct cm_meta *)metas, n, CM_META_STRING, CM_H5_LIKWID_VARIABLE);
	rank->likwid_environment = metas;
	rc = cm_h5_get_string(likwid, CM_H5_CPU_NAME, source->store, &rank->likwid_cpu_name);
	return rc < 0 ? rc : 0;
}

static int read_skips(const struct cm_load_source *source, hid_t rank_group,
		      struct cm_result_rank *rank)
{
	struct cm_profile_skip *skips;
	const struct cm_meta *metas;
	size_t n;
	int rc = cm_h5_get_metadata(rank_group, source->store, &metas, &n);

	if (rc < 0)
		return rc;
	n = keep_prefixed((struct cm_meta *)metas, n, CM_META_INT, CM_H5_SKIPPED_PREFIX);
	skips = cm_text_store_alloc(source->store, n, sizeof(*skips));
	if (!skips)
		return -EFBIG;
	for (size_t i = 0; i < n; i++)
		skips[i] = (struct cm_profile_skip){metas[i].name + strlen(CM_H5_SKIPPED_PREFIX),
						    metas[i].integer};
	rank->skips = skips;
	rank->n_skips = n;
	return 0;
}

int cm_load_likwid(const struct cm_load_source *source, hid_t rank_group,
		   struct cm_result_rank *rank, struct cm_diag *diag)
{
	hid_t likwid = cm_h5_open_child(rank_group, CM_H5_LIKWID, H5I_GROUP);
	int rc = read_skips(source, rank_group, rank);

	if (rc == 0)
		rc = cm_h5_get_string(rank_group, CM_H5_FALLBACK, source->store,
				      &rank->likwid_fallback);
	if (rc > 0)
		rc = 0;
	rank->has_likwid = likwid >= 0;
	if (rc == 0 && likwid >= 0)
		rc = read_environment(source, likwid, rank);
	if (rc == 0 && likwid >= 0)
		rc = read_regions(source, likwid, rank);
	cm_h5_close(likwid);
	if (rc == -EINVAL)
		return cm_h5_fail(diag, rc, source->path,
				  "its hardware counters are not as the format says");
	return rc;
}
