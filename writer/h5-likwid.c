/* SPDX-License-Identifier: BSD-3-Clause */
/* Hardware counters into HDF5, driven by the lists of h5-schema.h. */
#include "writer/h5-likwid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "writer/h5-base.h"
#include "writer/h5-profile.h"
#include "writer/h5-put.h"
#include "writer/h5-schema.h"
#include "writer/region-name.h"
#include "writer/utf8.h"

/* The lists expand to calls that do nothing after the first failure. */
#define PUT(call)                  \
	do {                       \
		if (rc == 0)       \
			rc = call; \
	} while (0)

#define MAX_SKIP_NAME 256

/* The first of two of one reason stays; one that cannot be a name is left out. */
static int put_skips(hid_t rank, const struct cm_profile *profile)
{
	char name[MAX_SKIP_NAME];
	int rc = 0;

	for (size_t i = 0; i < profile->n_skips && rc == 0; i++) {
		const struct cm_profile_skip *skip = &profile->skips[i];

		snprintf(name, sizeof(name), CM_H5_SKIPPED_PREFIX "%s", skip->reason);
		if (skip->n && cm_utf8_is_valid(name) && H5Aexists(rank, name) == 0)
			rc = cm_h5_put_integer(rank, name, skip->n);
	}
	return rc;
}

static size_t stored_rows(size_t n)
{
	return n < CM_H5_MAX_ROWS ? n : CM_H5_MAX_ROWS;
}

/* What an attribute has no room for stands in a dataset of the same name too. */
static int put_names(hid_t group, const char *name, const char *const *texts, size_t n)
{
	int rc = cm_h5_put_strings(group, name, texts, texts ? n : 0);

	if (rc == 0 && texts && n > CM_H5_PUT_MAX_STRINGS)
		rc = cm_h5_put_list(group, name, texts, n);
	return rc;
}

static int put_counters(hid_t group, const struct cm_profile_counters *counters)
{
	const char *tag = counters->tag;
	int rc = 0;

#define STRING(name, field) PUT(cm_h5_put_string(group, name, counters->field));
	CM_H5_COUNTERS_STRINGS(STRING)
#undef STRING
	if (!cm_utf8_is_valid(tag))
		PUT(cm_h5_put_bytes(group, CM_H5_TAG_BYTES, tag, strlen(tag)));
#define INTEGER(name, field) PUT(cm_h5_put_integer(group, name, counters->field));
	CM_H5_COUNTERS_INTEGERS(INTEGER)
#undef INTEGER
#define LIST(name, field, n) PUT(put_names(group, name, counters->field, stored_rows(counters->n)));
	CM_H5_COUNTERS_LISTS(LIST)
#undef LIST
#define COLUMN(name, field) \
	PUT(cm_h5_put_array(group, name, H5T_NATIVE_INT64, counters->field, counters->n_cpus));
	CM_H5_COUNTERS_INTEGER_COLUMNS(COLUMN)
#undef COLUMN
#define COLUMN(name, field) \
	PUT(cm_h5_put_array(group, name, H5T_NATIVE_DOUBLE, counters->field, counters->n_cpus));
	CM_H5_COUNTERS_REAL_COLUMNS(COLUMN)
#undef COLUMN
#define MATRIX(name, field, n, names, prefix)                                        \
	PUT(cm_h5_put_matrix(group, name, counters->field, stored_rows(counters->n), \
			     counters->n_cpus));
	CM_H5_COUNTERS_MATRICES(MATRIX)
#undef MATRIX
	return rc;
}

static const char *tag_of(const void *ctx, size_t i)
{
	return ((const struct cm_profile *)ctx)->counters[i].tag;
}

static int put_regions(hid_t likwid, const struct cm_profile *profile)
{
	hid_t regions =
		H5Gcreate2(likwid, CM_H5_LIKWID_REGIONS, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	size_t n = profile->n_counters;
	char **names = NULL;
	int rc = regions < 0 ? -EIO : 0;

	PUT(cm_region_names_new(tag_of, profile, n, &names));
	for (size_t i = 0; i < n && rc == 0; i++) {
		hid_t group = cm_h5_make_group(regions, names[i]);

		rc = group < 0 ? -EIO : put_counters(group, &profile->counters[i]);
		cm_h5_close(group);
	}
	if (names)
		cm_region_names_free(names, n);
	cm_h5_close(regions);
	return rc;
}

static int put_group(hid_t rank, const struct cm_profile *profile)
{
	hid_t group = cm_h5_make_group(rank, CM_H5_LIKWID);
	int rc = group < 0 ? -EIO : 0;

	PUT(cm_h5_profile_put_metas(group, profile->likwid_environment,
				    profile->n_likwid_environment, CM_H5_LIKWID_VARIABLE));
	PUT(cm_h5_put_integer(group, CM_H5_NUM_REGIONS, (int64_t)profile->n_counters));
	PUT(cm_h5_put_string(group, CM_H5_CPU_NAME, profile->likwid_cpu_name));
	PUT(put_regions(group, profile));
	cm_h5_close(group);
	return rc;
}

int cm_h5_likwid_put(hid_t rank, const struct cm_profile *profile)
{
	int rc = put_skips(rank, profile);

	if (profile->likwid_fallback && profile->likwid_fallback[0])
		PUT(cm_h5_put_string(rank, CM_H5_FALLBACK, profile->likwid_fallback));
	if (profile->has_likwid)
		PUT(put_group(rank, profile));
	return rc;
}
