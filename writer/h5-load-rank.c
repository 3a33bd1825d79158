/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank: its attributes, lists and threads, then its regions. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-get.h"
#include "writer/h5-load.h"
#include "writer/h5-open.h"
#include "writer/h5-schema.h"

static int add_name(void *ctx, const char *name, H5L_type_t type)
{
	struct cm_load_names *names = ctx;
	const char *copy = cm_text_store_copy(names->store, name, strlen(name));

	if (!copy)
		return -EFBIG;
	if (names->n == names->n_room) {
		size_t n_room = names->n_room ? 2 * names->n_room : 64;
		struct cm_load_name *items = reallocarray(names->items, n_room, sizeof(*items));

		if (!items)
			return -ENOMEM;
		names->items = items;
		names->n_room = n_room;
	}
	names->items[names->n++] = (struct cm_load_name){copy, type};
	return 0;
}

int cm_load_names(struct cm_load_names *names, hid_t group, struct cm_text_store *store)
{
	int rc;

	*names = (struct cm_load_names){.store = store};
	rc = cm_h5_each_link(group, add_name, names);
	if (rc < 0) {
		free(names->items);
		names->items = NULL;
	}
	return rc;
}

int cm_load_rank_number(const char *name, int64_t *ret_rank)
{
	const char *digits = name + strlen(CM_H5_RANK_PREFIX);
	char *end;

	if (strncmp(name, CM_H5_RANK_PREFIX, strlen(CM_H5_RANK_PREFIX)) != 0 || *digits < '0' ||
	    *digits > '9')
		return -EINVAL;
	errno = 0;
	*ret_rank = strtoll(digits, &end, 10);
	return *end || errno ? -EINVAL : 0;
}

static int read_attributes(const struct cm_load_source *source, hid_t group,
			   struct cm_result_rank *rank)
{
	struct cm_text_store *store = source->store;
	int64_t value;
	int rc = 0;

#define STRING(name, field) \
	if (rc >= 0)        \
		rc = cm_h5_get_string(group, name, store, &rank->field);
	CM_H5_RANK_STRINGS(STRING)
#undef STRING
#define INTEGER(name, field)                                      \
	if (rc >= 0) {                                            \
		rc = cm_h5_get_integer(group, name, &value);      \
		if (rc > 0)                                       \
			rank->field = (typeof(rank->field))value; \
	}
	CM_H5_RANK_INTEGERS(INTEGER)
#undef INTEGER
	if (rc >= 0)
		rc = cm_h5_get_integer(group, CM_H5_EXIT_STATUS, &rank->exit_status);
	rank->has_exit_status = rc > 0;
	if (rc >= 0)
		rc = cm_h5_get_real(group, CM_H5_OVERHEAD, &rank->overhead_ns_per_call);
	return rc < 0 ? rc : 0;
}

static int read_lists(const struct cm_load_source *source, hid_t group, struct cm_result_rank *rank)
{
	struct {
		const char *name;
		const char *const **texts;
		size_t *n;
	} lists[] = {
		{CM_H5_COMMAND_LINE, &rank->command_line, &rank->n_command_line},
		{CM_H5_NEVER_CALLED, &rank->never_called, &rank->n_never_called},
		{CM_H5_NOTES, &rank->notes, &rank->n_notes},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]) && rc >= 0; i++)
		rc = cm_h5_get_list(group, lists[i].name, source->n_file_bytes, source->store,
				    lists[i].texts, lists[i].n);
	return rc < 0 ? rc : 0;
}

/* The first column says how many threads there are; all others must agree. */
static int set_n_threads(struct cm_text_store *store, struct cm_profile_thread **threads,
			 size_t *n_threads, size_t n)
{
	if (*threads)
		return n == *n_threads ? 0 : -EINVAL;
	*threads = cm_text_store_alloc(store, n, sizeof(**threads));
	if (!*threads)
		return -EFBIG;
	for (size_t i = 0; i < n; i++)
		(*threads)[i].name = (*threads)[i].cpus = "";
	*n_threads = n;
	return 0;
}

static int read_threads(const struct cm_load_source *source, hid_t rank_group,
			struct cm_result_rank *rank)
{
	hid_t group = cm_h5_open_child(rank_group, CM_H5_THREADS, H5I_GROUP);
	struct cm_profile_thread *threads = NULL;
	const char *const *texts;
	const int64_t *values;
	size_t n, n_threads = 0;
	int rc = 0;

	if (group < 0)
		return 0;
#define COLUMN(name, field, get, column)                                                 \
	if (rc >= 0)                                                                     \
		rc = get(group, name, source->n_file_bytes, source->store, &column, &n); \
	if (rc > 0)                                                                      \
		rc = set_n_threads(source->store, &threads, &n_threads, n);              \
	else if (rc == 0)                                                                \
		n = 0;                                                                   \
	for (size_t i = 0; rc >= 0 && i < n; i++)                                        \
		threads[i].field = column[i];
#define INTEGER(name, field) COLUMN(name, field, cm_h5_get_array, values)
	CM_H5_THREAD_INTEGERS(INTEGER)
#undef INTEGER
#define STRING(name, field) COLUMN(name, field, cm_h5_get_list, texts)
	CM_H5_THREAD_STRINGS(STRING)
#undef STRING
#undef COLUMN
	cm_h5_close(group);
	if (rc < 0)
		return rc;
	rank->threads = threads;
	rank->n_threads = n_threads;
	return 0;
}

/* Fill regions and groups, which have room for all names; soft and external links are left out. */
static int read_each(const struct cm_load_source *source, hid_t group,
		     const struct cm_load_names *names, struct cm_result_region *regions,
		     const char **groups, size_t *ret_n, struct cm_diag *diag)
{
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < names->n && rc == 0; i++) {
		hid_t region = cm_h5_open_child(group, names->items[i].name, H5I_GROUP);

		if (region < 0)
			continue;
		rc = cm_load_region(source, region, names->items[i].name, &regions[n], diag);
		groups[n++] = names->items[i].name;
		cm_h5_close(region);
	}
	*ret_n = n;
	return rc;
}

static int read_regions(const struct cm_load_source *source, hid_t rank_group,
			struct cm_loaded_rank *rank, struct cm_diag *diag)
{
	hid_t group = cm_h5_open_child(rank_group, CM_H5_REGIONS, H5I_GROUP);
	struct cm_load_names names = {0};
	struct cm_result_region *regions;
	const char **groups;
	int rc;

	if (group < 0)
		return 0; /* scope-profiler: a rank with counters only */
	rc = cm_load_names(&names, group, source->store);
	if (rc == 0) {
		regions = cm_text_store_alloc(source->store, names.n, sizeof(*regions));
		groups = cm_text_store_alloc(source->store, names.n, sizeof(*groups));
		rc = regions && groups ? 0 : -EFBIG;
	}
	if (rc == 0)
		rc = read_each(source, group, &names, regions, groups, &rank->result.n_regions,
			       diag);
	if (rc == 0) {
		rank->result.regions = regions;
		rank->region_groups = groups;
	}
	free(names.items);
	cm_h5_close(group);
	return rc;
}

int cm_load_rank(struct cm_load_source *source, struct cm_loaded_rank *rank, struct cm_diag *diag)
{
	hid_t group = cm_h5_open_child(source->file, rank->group, H5I_GROUP);
	int64_t number = rank->result.rank;
	int rc;

	rank->result = (struct cm_result_rank){.rank = number,
					       .hostname = "",
					       .executable = "",
					       .clock = "",
					       .likwid_cpu_name = "",
					       .likwid_fallback = "",
					       .overhead_ns_per_call = NAN};
	if (group < 0)
		return cm_h5_fail(diag, -EINVAL, source->path, "a rank is not a group");
	rc = read_attributes(source, group, &rank->result);
	if (rc == 0)
		rc = read_lists(source, group, &rank->result);
	if (rc == 0)
		rc = read_threads(source, group, &rank->result);
	source->n_threads = rank->result.n_threads;
	if (rc == 0)
		rc = read_regions(source, group, rank, diag);
	if (rc == 0)
		rc = cm_load_likwid(source, group, &rank->result, diag);
	cm_h5_close(group);
	if (rc == -EINVAL)
		return cm_h5_fail(diag, rc, source->path, "a rank is not as the format says");
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", source->path,
				   rc == -EFBIG ? "its texts are larger than the file allows"
						: "out of memory");
	return 0;
}
