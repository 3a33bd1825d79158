/* SPDX-License-Identifier: BSD-3-Clause */
/* A row's evidence into HDF5, driven by the lists of h5-bundle-schema.h. */
#include <errno.h>
#include <stdlib.h>

#include "writer/bundle.h"
#include "writer/h5-base.h"
#include "writer/h5-bundle-schema.h"
#include "writer/h5-put.h"
#include "writer/h5-schema.h"
#include "writer/h5-sink.h"
#include "writer/tempfile.h"

/* The lists expand to calls that do nothing after the first failure. */
#define PUT(call)                  \
	do {                       \
		if (rc == 0)       \
			rc = call; \
	} while (0)

#define PUT_STRING(name, field) PUT(cm_h5_put_string(group, name, bundle->field));
#define PUT_INTEGER(name, field) PUT(cm_h5_put_integer(group, name, bundle->field));
#define PUT_REAL(name, field) PUT(cm_h5_put_real(group, name, bundle->field));
#define PUT_LIST(name, field) \
	PUT(cm_h5_put_list(group, name, bundle->field.texts, bundle->field.n));
#define PUT_COLUMN(name, field) \
	PUT(cm_h5_put_array(group, name, H5T_NATIVE_INT64, bundle->field.values, bundle->field.n));
#define PUT_BYTES(name, field) \
	PUT(cm_h5_put_array(group, name, H5T_NATIVE_UINT8, bundle->field.bytes, bundle->field.n));

static int put_root(hid_t group, const struct cm_bundle *bundle)
{
	int rc = cm_h5_put_integer(group, CM_H5_BUNDLE_SCHEMA, CM_H5_BUNDLE_SCHEMA_VERSION);

	PUT(cm_h5_put_string(group, CM_H5_VERSION, CM_VERSION));
	CM_H5_BUNDLE_ROOT_STRINGS(PUT_STRING)
	CM_H5_BUNDLE_ROOT_INTEGERS(PUT_INTEGER)
	return rc;
}

static int put_declaration(hid_t file, const struct cm_bundle *bundle)
{
	hid_t group = cm_h5_make_group(file, CM_H5_BUNDLE_DECLARATION);
	int rc = group < 0 ? -EIO : 0;

	CM_H5_BUNDLE_DECLARATION_STRINGS(PUT_STRING)
	CM_H5_BUNDLE_DECLARATION_INTEGERS(PUT_INTEGER)
	CM_H5_BUNDLE_DECLARATION_COLUMNS(PUT_COLUMN)
	CM_H5_BUNDLE_DECLARATION_LISTS(PUT_LIST)
	cm_h5_close(group);
	return rc;
}

/* Arrays of structs, a dataset a field: the field of each, gathered. */
#define PUT_FIELD_STRING(name, field)                                            \
	if (rc == 0) {                                                           \
		for (size_t i = 0; i < n; i++)                                   \
			texts[i] = rows[i].field;                                \
		rc = cm_h5_put_list(group, name, (const char *const *)texts, n); \
	}
#define PUT_FIELD_INTEGER(name, field)                                            \
	if (rc == 0) {                                                            \
		for (size_t i = 0; i < n; i++)                                    \
			integers[i] = rows[i].field;                              \
		rc = cm_h5_put_array(group, name, H5T_NATIVE_INT64, integers, n); \
	}
#define PUT_FIELD_REAL(name, field)                                             \
	if (rc == 0) {                                                          \
		for (size_t i = 0; i < n; i++)                                  \
			reals[i] = rows[i].field;                               \
		rc = cm_h5_put_array(group, name, H5T_NATIVE_DOUBLE, reals, n); \
	}

static int put_probes(hid_t group, const struct cm_bundle *bundle)
{
	const struct cm_bundle_probe *rows = bundle->probes;
	size_t n = bundle->n_probes;
	const char **texts = calloc(n + 1, sizeof(*texts));
	int64_t *integers = calloc(n + 1, sizeof(*integers));
	int rc = texts && integers ? 0 : -ENOMEM;

	CM_H5_BUNDLE_PROBE_STRINGS(PUT_FIELD_STRING)
	CM_H5_BUNDLE_PROBE_INTEGERS(PUT_FIELD_INTEGER)
	free(integers);
	free(texts);
	return rc;
}

static int put_qualification(hid_t file, const struct cm_bundle *bundle)
{
	hid_t group = cm_h5_make_group(file, CM_H5_BUNDLE_QUALIFICATION);
	int rc = group < 0 ? -EIO : 0;

	CM_H5_BUNDLE_QUALIFICATION_STRINGS(PUT_STRING)
	CM_H5_BUNDLE_QUALIFICATION_INTEGERS(PUT_INTEGER)
	CM_H5_BUNDLE_QUALIFICATION_REALS(PUT_REAL)
	PUT(put_probes(group, bundle));
	cm_h5_close(group);
	return rc;
}

static int put_columns(hid_t group, const struct cm_bundle *bundle)
{
	const struct cm_bundle_observation *rows = bundle->observations;
	size_t n = bundle->n_observations;
	const char **texts = calloc(n + 1, sizeof(*texts));
	int64_t *integers = calloc(n + 1, sizeof(*integers));
	double *reals = calloc(n + 1, sizeof(*reals));
	int rc = texts && integers && reals ? 0 : -ENOMEM;

	CM_H5_BUNDLE_OBSERVATION_STRINGS(PUT_FIELD_STRING)
	CM_H5_BUNDLE_OBSERVATION_INTEGERS(PUT_FIELD_INTEGER)
	CM_H5_BUNDLE_OBSERVATION_REALS(PUT_FIELD_REAL)
	free(reals);
	free(integers);
	free(texts);
	return rc;
}

static int put_observations(hid_t evidence, const struct cm_bundle *bundle)
{
	hid_t group = cm_h5_make_group(evidence, CM_H5_BUNDLE_OBSERVATIONS);
	int rc = group < 0 ? -EIO : 0;

	PUT(cm_h5_put_string(group, CM_H5_BUNDLE_ENCODING, CM_BUNDLE_ENCODING));
	PUT(cm_h5_put_integer(group, CM_H5_BUNDLE_EXACT_INTEGER, 0));
	PUT(cm_h5_put_integer(group, CM_H5_BUNDLE_SCALED, 0));
	PUT(cm_h5_put_string(group, CM_H5_BUNDLE_ENABLED_TIME, CM_BUNDLE_TIME_ABSENT));
	PUT(cm_h5_put_string(group, CM_H5_BUNDLE_RUNNING_TIME, CM_BUNDLE_TIME_ABSENT));
	PUT(put_columns(group, bundle));
	cm_h5_close(group);
	return rc;
}

static int put_diagnostic(hid_t evidence, const struct cm_bundle *bundle)
{
	hid_t group = cm_h5_make_group(evidence, CM_H5_BUNDLE_DIAGNOSTIC);
	int rc = group < 0 ? -EIO : 0;

	CM_H5_BUNDLE_DIAGNOSTIC_STRINGS(PUT_STRING)
	CM_H5_BUNDLE_DIAGNOSTIC_INTEGERS(PUT_INTEGER)
	CM_H5_BUNDLE_DIAGNOSTIC_LISTS(PUT_LIST)
	CM_H5_BUNDLE_DIAGNOSTIC_BYTES(PUT_BYTES)
	cm_h5_close(group);
	return rc;
}

static int put_evidence(hid_t file, const struct cm_bundle *bundle)
{
	hid_t group = cm_h5_make_group(file, CM_H5_BUNDLE_EVIDENCE);
	int rc = group < 0 ? -EIO : 0;

	PUT(cm_h5_put_string(group, CM_H5_BUNDLE_SCOPE, CM_BUNDLE_SCOPE));
	CM_H5_BUNDLE_EVIDENCE_STRINGS(PUT_STRING)
	CM_H5_BUNDLE_EVIDENCE_COLUMNS(PUT_COLUMN)
	CM_H5_BUNDLE_EVIDENCE_LISTS(PUT_LIST)
	if (bundle->has_group_time)
		PUT(cm_h5_put_real(group, CM_H5_BUNDLE_GROUP_TIME, bundle->group_time_seconds));
	if (bundle->has_perf_pid)
		PUT(cm_h5_put_integer(group, CM_H5_BUNDLE_PERF_PID, bundle->perf_pid));
	PUT(put_observations(group, bundle));
	PUT(put_diagnostic(group, bundle));
	cm_h5_close(group);
	return rc;
}

static int put_bundle(hid_t file, const void *ctx)
{
	const struct cm_bundle *bundle = ctx;
	int rc = put_root(file, bundle);

	PUT(put_declaration(file, bundle));
	PUT(put_qualification(file, bundle));
	if (bundle->is_attempted)
		PUT(put_evidence(file, bundle));
	return rc;
}

/* A new file with what put() puts into it: complete under its name, or not there. */
static int write_file(const char *path, int (*put)(hid_t file, const void *ctx), const void *ctx,
		      struct cm_diag *diag)
{
	struct cm_tempfile temp;
	struct cm_h5_sink sink;
	hid_t file = H5I_INVALID_HID;
	int rc = cm_h5_init(diag), closed;

	if (rc == 0)
		rc = cm_tempfile_open(&temp, path, diag);
	if (rc < 0)
		return rc;
	cm_h5_sink_init(&sink, temp.fd);
	rc = cm_h5_sink_create(&sink, path, &file, diag);
	if (rc == 0) {
		rc = put(file, ctx);
		if (rc == -ENOMEM)
			cm_diag_set(diag, rc, "%s: out of memory", path);
		else if (rc < 0)
			rc = cm_h5_sink_fail(&sink, diag, path, "cannot write");
	}
	if (rc < 0)
		cm_h5_sink_drop(&sink);
	closed = cm_h5_sink_close(&sink, file, path, diag);
	if (rc == 0)
		rc = closed;
	if (rc < 0) {
		cm_tempfile_discard(&temp);
		return rc;
	}
	return cm_tempfile_commit(&temp, diag);
}

int cm_bundle_write(const char *path, const struct cm_bundle *bundle, struct cm_diag *diag)
{
	int rc = cm_bundle_check(bundle, diag);

	return rc < 0 ? rc : write_file(path, put_bundle, bundle, diag);
}

struct suite_file {
	const char *suite;
	const char *run_id;
	const struct cm_bundle_link *links;
	size_t n_links;
};

/* The group of a case, which may be there. */
static hid_t make_case(hid_t rows, const char *name)
{
	htri_t has = H5Lexists(rows, name, H5P_DEFAULT);

	if (has < 0)
		return H5I_INVALID_HID;
	return has ? H5Gopen2(rows, name, H5P_DEFAULT) : cm_h5_make_group(rows, name);
}

static int put_link(hid_t rows, const struct cm_bundle_link *link)
{
	hid_t group = make_case(rows, link->case_id);
	int rc = 0;

	if (group < 0 || H5Lcreate_external(link->path, "/", group, link->target_id, H5P_DEFAULT,
					    H5P_DEFAULT) < 0)
		rc = -EIO;
	cm_h5_close(group);
	return rc;
}

static int put_suite(hid_t file, const void *ctx)
{
	const struct suite_file *suite = ctx;
	hid_t rows = cm_h5_make_group(file, CM_H5_SUITE_ROWS);
	int rc = rows < 0 ? -EIO : 0;

	PUT(cm_h5_put_integer(file, CM_H5_SUITE_SCHEMA, CM_H5_BUNDLE_SCHEMA_VERSION));
	PUT(cm_h5_put_string(file, CM_H5_VERSION, CM_VERSION));
	PUT(cm_h5_put_string(file, "suite", suite->suite));
	PUT(cm_h5_put_string(file, CM_H5_RUN_ID, suite->run_id));
	for (size_t i = 0; i < suite->n_links; i++)
		PUT(put_link(rows, &suite->links[i]));
	cm_h5_close(rows);
	return rc;
}

int cm_bundle_write_suite(const char *path, const char *suite, const char *run_id,
			  const struct cm_bundle_link *links, size_t n_links, struct cm_diag *diag)
{
	struct suite_file file = {suite, run_id, links, n_links};

	return write_file(path, put_suite, &file, diag);
}
