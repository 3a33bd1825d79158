/* SPDX-License-Identifier: BSD-3-Clause */
/* A row's evidence out of HDF5, driven by the lists of h5-bundle-schema.h. The file may be
 * anything. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "writer/bundle.h"
#include "writer/h5-base.h"
#include "writer/h5-bundle-schema.h"
#include "writer/h5-get.h"
#include "writer/h5-open.h"
#include "writer/text-store.h"

/* What a file may ask for in all. */
#define STORE_BYTES ((size_t)256 << 20)

struct loaded {
	struct cm_bundle_file file; /* first: it is what the caller has */
	struct cm_text_store store;
	uint64_t n_file_bytes;
};

/* All of the layout is there: what is absent makes the file another one. */
static int needed(int rc)
{
	return rc == 0 ? -EINVAL : rc > 0 ? 0 : rc;
}

#define GET(call)                          \
	do {                               \
		if (rc == 0)               \
			rc = needed(call); \
	} while (0)

#define GET_STRING(name, field) GET(cm_h5_get_string(group, name, &loaded->store, &bundle->field));
#define GET_INTEGER(name, field) GET(cm_h5_get_integer(group, name, &bundle->field));
#define GET_REAL(name, field) GET(cm_h5_get_real(group, name, &bundle->field));
#define GET_LIST(name, field)                                                 \
	GET(cm_h5_get_list(group, name, loaded->n_file_bytes, &loaded->store, \
			   &bundle->field.texts, &bundle->field.n));
#define GET_COLUMN(name, field)                                                \
	GET(cm_h5_get_array(group, name, loaded->n_file_bytes, &loaded->store, \
			    &bundle->field.values, &bundle->field.n));
#define GET_BYTES(name, field) GET(get_bytes(loaded, group, name, &bundle->field));

static int get_bytes(struct loaded *loaded, hid_t group, const char *name,
		     struct cm_bundle_bytes *ret_bytes)
{
	const int64_t *values;
	size_t n;
	int rc = cm_h5_get_array(group, name, loaded->n_file_bytes, &loaded->store, &values, &n);
	char *bytes;

	if (rc <= 0)
		return rc;
	bytes = cm_text_store_alloc(&loaded->store, n + 1, 1);
	if (!bytes)
		return -EFBIG;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(unsigned char)values[i];
	*ret_bytes = (struct cm_bundle_bytes){bytes, n};
	return 1;
}

static int get_root(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	int64_t version = 0;
	int rc = needed(cm_h5_get_integer(group, CM_H5_BUNDLE_SCHEMA, &version));

	if (rc == 0 && version != CM_H5_BUNDLE_SCHEMA_VERSION)
		rc = -EINVAL;
	CM_H5_BUNDLE_ROOT_STRINGS(GET_STRING)
	CM_H5_BUNDLE_ROOT_INTEGERS(GET_INTEGER)
	return rc;
}

static int get_declaration(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	int rc = 0;

	CM_H5_BUNDLE_DECLARATION_STRINGS(GET_STRING)
	CM_H5_BUNDLE_DECLARATION_INTEGERS(GET_INTEGER)
	CM_H5_BUNDLE_DECLARATION_COLUMNS(GET_COLUMN)
	CM_H5_BUNDLE_DECLARATION_LISTS(GET_LIST)
	return rc;
}

/* Arrays of structs out of a dataset a field, which must all have the same number of rows. */
#define GET_FIELD(name, get, values)                                                \
	GET(get(group, name, loaded->n_file_bytes, &loaded->store, &(values), &n)); \
	if (rc == 0 && !rows) {                                                     \
		n_rows = n;                                                         \
		rows = cm_text_store_alloc(&loaded->store, n, sizeof(*rows));       \
		rc = rows ? 0 : -EFBIG;                                             \
	}                                                                           \
	if (rc == 0 && n != n_rows)                                                 \
		rc = -EINVAL;
#define GET_FIELD_STRING(name, field)             \
	GET_FIELD(name, cm_h5_get_list, texts)    \
	for (size_t i = 0; rc == 0 && i < n; i++) \
		rows[i].field = texts[i];
#define GET_FIELD_INTEGER(name, field)             \
	GET_FIELD(name, cm_h5_get_array, integers) \
	for (size_t i = 0; rc == 0 && i < n; i++)  \
		rows[i].field = integers[i];
#define GET_FIELD_REAL(name, field)               \
	GET_FIELD(name, cm_h5_get_reals, reals)   \
	for (size_t i = 0; rc == 0 && i < n; i++) \
		rows[i].field = reals[i];

static int get_probes(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	struct cm_bundle_probe *rows = NULL;
	const char *const *texts;
	const int64_t *integers;
	size_t n = 0, n_rows = 0;
	int rc = 0;

	CM_H5_BUNDLE_PROBE_STRINGS(GET_FIELD_STRING)
	CM_H5_BUNDLE_PROBE_INTEGERS(GET_FIELD_INTEGER)
	bundle->probes = rows;
	bundle->n_probes = n_rows;
	return rc;
}

static int get_qualification(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	int rc = 0;

	CM_H5_BUNDLE_QUALIFICATION_STRINGS(GET_STRING)
	CM_H5_BUNDLE_QUALIFICATION_INTEGERS(GET_INTEGER)
	CM_H5_BUNDLE_QUALIFICATION_REALS(GET_REAL)
	return rc < 0 ? rc : get_probes(loaded, group, bundle);
}

static int get_observations(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	struct cm_bundle_observation *rows = NULL;
	int64_t is_exact = 1, is_scaled = 1;
	const char *const *texts;
	const int64_t *integers;
	const double *reals;
	size_t n = 0, n_rows = 0;
	int rc = needed(cm_h5_get_integer(group, CM_H5_BUNDLE_EXACT_INTEGER, &is_exact));

	GET(cm_h5_get_integer(group, CM_H5_BUNDLE_SCALED, &is_scaled));
	if (rc == 0 && (is_exact || is_scaled))
		rc = -EINVAL;
	CM_H5_BUNDLE_OBSERVATION_STRINGS(GET_FIELD_STRING)
	CM_H5_BUNDLE_OBSERVATION_INTEGERS(GET_FIELD_INTEGER)
	CM_H5_BUNDLE_OBSERVATION_REALS(GET_FIELD_REAL)
	bundle->observations = rows;
	bundle->n_observations = n_rows;
	return rc;
}

static int get_diagnostic(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	int rc = 0;

	CM_H5_BUNDLE_DIAGNOSTIC_STRINGS(GET_STRING)
	CM_H5_BUNDLE_DIAGNOSTIC_INTEGERS(GET_INTEGER)
	CM_H5_BUNDLE_DIAGNOSTIC_LISTS(GET_LIST)
	CM_H5_BUNDLE_DIAGNOSTIC_BYTES(GET_BYTES)
	return rc;
}

typedef int getter(struct loaded *loaded, hid_t group, struct cm_bundle *bundle);

static int get_group(struct loaded *loaded, hid_t parent, const char *name, getter *get)
{
	hid_t group = cm_h5_open_child(parent, name, H5I_GROUP);
	int rc = group < 0 ? -EINVAL : get(loaded, group, &loaded->file.bundle);

	cm_h5_close(group);
	return rc;
}

static int get_evidence(struct loaded *loaded, hid_t group, struct cm_bundle *bundle)
{
	int rc = 0, found;

	CM_H5_BUNDLE_EVIDENCE_STRINGS(GET_STRING)
	CM_H5_BUNDLE_EVIDENCE_COLUMNS(GET_COLUMN)
	CM_H5_BUNDLE_EVIDENCE_LISTS(GET_LIST)
	if (rc < 0)
		return rc;
	found = cm_h5_get_real(group, CM_H5_BUNDLE_GROUP_TIME, &bundle->group_time_seconds);
	if (found < 0)
		return found;
	bundle->has_group_time = found > 0;
	found = cm_h5_get_integer(group, CM_H5_BUNDLE_PERF_PID, &bundle->perf_pid);
	if (found < 0)
		return found;
	bundle->has_perf_pid = found > 0;
	rc = get_group(loaded, group, CM_H5_BUNDLE_OBSERVATIONS, get_observations);
	return rc < 0 ? rc : get_group(loaded, group, CM_H5_BUNDLE_DIAGNOSTIC, get_diagnostic);
}

static int get_bundle(struct loaded *loaded, hid_t file)
{
	struct cm_bundle *bundle = &loaded->file.bundle;
	htri_t has = H5Lexists(file, CM_H5_BUNDLE_EVIDENCE, H5P_DEFAULT);
	int rc = has < 0 ? -EINVAL : get_root(loaded, file, bundle);

	if (rc == 0)
		rc = get_group(loaded, file, CM_H5_BUNDLE_DECLARATION, get_declaration);
	if (rc == 0)
		rc = get_group(loaded, file, CM_H5_BUNDLE_QUALIFICATION, get_qualification);
	bundle->is_attempted = has > 0;
	if (rc == 0 && has > 0)
		rc = get_group(loaded, file, CM_H5_BUNDLE_EVIDENCE, get_evidence);
	return rc;
}

/* Texts are never NULL for whoever reads. */
#define EMPTY(name, field)  \
	if (!bundle->field) \
		bundle->field = "";
static void fill(struct cm_bundle *bundle)
{
	CM_H5_BUNDLE_EVIDENCE_STRINGS(EMPTY)
	CM_H5_BUNDLE_DIAGNOSTIC_STRINGS(EMPTY)
}

void cm_bundle_free(struct cm_bundle_file *file)
{
	struct loaded *loaded = (struct loaded *)file;

	if (!loaded)
		return;
	cm_text_store_fini(&loaded->store);
	free(loaded);
}

int cm_bundle_read(struct cm_bundle_file **ret_file, const char *path, struct cm_diag *diag)
{
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	hid_t file = H5I_INVALID_HID;
	struct stat st = {0};
	int rc = loaded ? 0 : -ENOMEM;

	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: out of memory", path);
	cm_text_store_init(&loaded->store, STORE_BYTES);
	rc = cm_h5_open_file(path, &file, diag);
	if (rc == 0 && stat(path, &st) == 0) {
		loaded->n_file_bytes = (uint64_t)st.st_size;
		rc = get_bundle(loaded, file);
		if (rc < 0)
			rc = cm_h5_fail(diag, rc, path, "is not the evidence of a row, or damaged");
	}
	cm_h5_close_file(file);
	fill(&loaded->file.bundle);
	if (rc == 0)
		rc = cm_bundle_check(&loaded->file.bundle, diag);
	if (rc < 0) {
		cm_bundle_free(&loaded->file);
		return rc;
	}
	*ret_file = &loaded->file;
	return 0;
}
