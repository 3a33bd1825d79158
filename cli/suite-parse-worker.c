/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite file: target, worker, oracle and probes of a row. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/suite-parse.h"
#include "collector/sha256.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define MAX_ITEMS 4096
#define FIELD_BYTES 160

/* A path, from the suite file's folder. */
static int take_path(const struct cm_suite_parsing *parsing, const json_t *object, const char *key,
		     const char *field, bool is_needed, const char **ret_path)
{
	const char *path = NULL;
	int rc = cm_suite_take_text(parsing, object, key, field, is_needed, &path);

	if (rc < 0 || !path)
		return rc;
	if (*path != '/')
		path = cm_arena_format(&parsing->suite->arena, "%s/%s", parsing->folder, path);
	*ret_path = path;
	return path ? 0 : cm_diag_set(parsing->diag, -ENOMEM, "%s: out of memory", parsing->path);
}

static int take_sha256(const struct cm_suite_parsing *parsing, const json_t *object,
		       const char *field, bool is_needed, const char **ret_sha256)
{
	int rc = cm_suite_take_text(parsing, object, "sha256", field, is_needed, ret_sha256);

	if (rc == 0 && *ret_sha256 && !cm_sha256_is_text(*ret_sha256))
		return cm_suite_refuse(parsing, field, "expected 64 hexadecimal digits");
	return rc;
}

/* What each kind needs, and what it cannot have. */
static int check_kind(const struct cm_suite_parsing *parsing, const struct cm_suite_row *row)
{
	const struct cm_worker_target *target = &row->worker.target;
	const char *kind = row->target_kind;
	bool is_release = !strcmp(kind, "release"), is_current = !strcmp(kind, "current");

	if (!is_release && !is_current && strcmp(kind, "development") != 0)
		return cm_suite_refuse(parsing, "target.kind",
				       "expected release, development or current");
	if (is_current && (target->path || target->version || target->sha256 || target->build_id ||
			   target->soname))
		return cm_suite_refuse(parsing, "target.kind",
				       "a target that is checked is a release or a development");
	if (is_current)
		return 0;
	if (!target->path)
		return cm_suite_refuse(parsing, "target.source", "missing");
	if (is_release && !target->version)
		return cm_suite_refuse(parsing, "target.version", "missing");
	if (!is_release && !target->sha256 && !target->build_id)
		return cm_suite_refuse(parsing, "target.sha256",
				       "a development is known by its sha256 or build_id: both are "
				       "missing");
	return 0;
}

int cm_suite_take_target(const struct cm_suite_parsing *parsing, const json_t *object,
			 struct cm_suite_row *row)
{
	static const char *const members[] = {"id",	"kind",	    "version", "source",
					      "sha256", "build_id", "soname",  NULL};
	struct cm_worker_target *target = &row->worker.target;
	int rc;

	if (!json_is_object(object))
		return cm_suite_refuse(parsing, "target",
				       object ? "expected an object" : "missing");
	rc = cm_suite_take_id(parsing, object, "id", "target.id", &row->target_id);
	if (rc == 0)
		rc = cm_suite_check_members(parsing, object, "target", members);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, object, "kind", "target.kind", true,
					&row->target_kind);
	if (rc == 0)
		rc = take_path(parsing, object, "source", "target.source", false, &target->path);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, object, "version", "target.version", false,
					&target->version);
	if (rc == 0)
		rc = take_sha256(parsing, object, "target.sha256", false, &target->sha256);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, object, "build_id", "target.build_id", false,
					&target->build_id);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, object, "soname", "target.soname", false,
					&target->soname);
	return rc < 0 ? rc : check_kind(parsing, row);
}

static int take_file(const struct cm_suite_parsing *parsing, const json_t *from, size_t idx,
		     struct cm_worker_file *file)
{
	static const char *const members[] = {"path", "sha256", NULL};
	char field[FIELD_BYTES];
	int rc;

	snprintf(field, sizeof(field), "worker.files[%zu]", idx);
	if (!json_is_object(from))
		return cm_suite_refuse(parsing, field, "expected an object");
	rc = cm_suite_check_members(parsing, from, field, members);
	snprintf(field, sizeof(field), "worker.files[%zu].path", idx);
	if (rc == 0)
		rc = take_path(parsing, from, "path", field, true, &file->path);
	snprintf(field, sizeof(field), "worker.files[%zu].sha256", idx);
	return rc < 0 ? rc : take_sha256(parsing, from, field, true, &file->sha256);
}

static int take_files(const struct cm_suite_parsing *parsing, const json_t *list,
		      struct cm_worker_row *row)
{
	size_t n = json_array_size(list);
	struct cm_worker_file *files;
	int rc = 0;

	if (!list)
		return 0;
	if (!json_is_array(list) || n > MAX_ITEMS)
		return cm_suite_refuse(parsing, "worker.files", "expected an array of files");
	files = cm_arena_array(&parsing->suite->arena, n, sizeof(*files));
	if (!files)
		return cm_diag_set(parsing->diag, -ENOMEM, "%s: out of memory", parsing->path);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_file(parsing, json_array_get(list, i), i, &files[i]);
	row->files = files;
	row->n_files = n;
	return rc;
}

int cm_suite_take_worker(const struct cm_suite_parsing *parsing, const json_t *object,
			 struct cm_worker_row *row)
{
	static const char *const members[] = {"path", "sha256", "files", NULL};
	int rc;

	if (!json_is_object(object))
		return cm_suite_refuse(parsing, "worker", "expected an object");
	rc = cm_suite_check_members(parsing, object, "worker", members);
	if (rc == 0)
		rc = take_path(parsing, object, "path", "worker.path", true, &row->source.path);
	if (rc == 0)
		rc = take_sha256(parsing, object, "worker.sha256", false, &row->source.sha256);
	return rc < 0 ? rc : take_files(parsing, json_object_get(object, "files"), row);
}

/* A name that an object file can export. */
static int take_function(const struct cm_suite_parsing *parsing, const json_t *object,
			 const char *field, const char **ret_function)
{
	int rc = cm_suite_take_text(parsing, object, "function", field, true, ret_function);

	if (rc == 0 && (strspn(*ret_function, LETTERS DIGITS "_$.") != strlen(*ret_function) ||
			strchr(DIGITS, **ret_function)))
		return cm_suite_refuse(parsing, field, "expected the name of a function");
	return rc;
}

static int take_probe(const struct cm_suite_parsing *parsing, const json_t *from, size_t idx,
		      struct cm_worker_probe *probe)
{
	static const char *const members[] = {"function", "blocking", NULL};
	char field[FIELD_BYTES];
	int rc;

	snprintf(field, sizeof(field), "probes[%zu]", idx);
	if (!json_is_object(from))
		return cm_suite_refuse(parsing, field, "expected an object");
	probe->is_blocking = true;
	rc = cm_suite_check_members(parsing, from, field, members);
	snprintf(field, sizeof(field), "probes[%zu].function", idx);
	if (rc == 0)
		rc = take_function(parsing, from, field, &probe->function);
	snprintf(field, sizeof(field), "probes[%zu].blocking", idx);
	return rc < 0 ? rc
		      : cm_suite_take_bool(parsing, from, "blocking", field, &probe->is_blocking);
}

static int take_probes(const struct cm_suite_parsing *parsing, const json_t *list,
		       struct cm_worker_row *row)
{
	size_t n = json_array_size(list);
	struct cm_worker_probe *probes;
	int rc = 0;

	if (!list)
		return 0;
	if (!json_is_array(list) || n > MAX_ITEMS)
		return cm_suite_refuse(parsing, "probes", "expected an array of probes");
	probes = cm_arena_array(&parsing->suite->arena, n, sizeof(*probes));
	if (!probes)
		return cm_diag_set(parsing->diag, -ENOMEM, "%s: out of memory", parsing->path);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_probe(parsing, json_array_get(list, i), i, &probes[i]);
	row->probes = probes;
	row->n_probes = n;
	return rc;
}

int cm_suite_take_checks(const struct cm_suite_parsing *parsing, const json_t *from,
			 struct cm_worker_row *row)
{
	static const char *const members[] = {"function", "required", NULL};
	const json_t *oracle = json_object_get(from, "oracle");
	int rc = 0;

	row->is_oracle_required = oracle != NULL;
	if (oracle && !json_is_object(oracle))
		return cm_suite_refuse(parsing, "oracle", "expected an object");
	if (oracle) {
		rc = cm_suite_check_members(parsing, oracle, "oracle", members);
		if (rc == 0)
			rc = take_function(parsing, oracle, "oracle.function", &row->oracle);
		if (rc == 0)
			rc = cm_suite_take_bool(parsing, oracle, "required", "oracle.required",
						&row->is_oracle_required);
	}
	return rc < 0 ? rc : take_probes(parsing, json_object_get(from, "probes"), row);
}
