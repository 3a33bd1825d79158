/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite file: the whole, its rows, and what is counted in them. */
#include "cli/suite-parse.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/whole-file.h"

#define MAX_FILE_BYTES ((size_t)64 << 20)
#define MAX_CPUS 4096
#define MAX_UNITS 4096

static int no_memory(const struct cm_suite_parsing *parsing)
{
	return cm_diag_set(parsing->diag, -ENOMEM, "%s: out of memory", parsing->path);
}

static int take_cpus(const struct cm_suite_parsing *parsing, const json_t *list,
		     struct cm_declaration *declaration)
{
	size_t n = json_array_size(list);
	int *cpus;

	if (!list)
		return 0;
	if (!json_is_array(list) || !n || n > MAX_CPUS)
		return cm_suite_refuse(parsing, "cpus", "expected an array of CPU numbers");
	cpus = cm_arena_array(&parsing->suite->arena, n, sizeof(*cpus));
	if (!cpus)
		return no_memory(parsing);
	for (size_t i = 0; i < n; i++) {
		const json_t *cpu = json_array_get(list, i);

		if (!json_is_integer(cpu) || json_integer_value(cpu) < 0 ||
		    json_integer_value(cpu) > INT32_MAX)
			return cm_suite_refuse(parsing, "cpus",
					       "a CPU is a whole number from 0 to 2147483647");
		cpus[i] = (int)json_integer_value(cpu);
	}
	declaration->cpuids = cpus;
	declaration->n_cpuids = n;
	return 0;
}

static int take_units(const struct cm_suite_parsing *parsing, json_t *object,
		      struct cm_declaration *declaration)
{
	struct cm_arena *arena = &parsing->suite->arena;
	struct cm_event_unit *units;
	const char *event;
	json_t *unit;
	size_t n = 0;

	if (!object)
		return 0;
	if (!json_is_object(object) || json_object_size(object) > MAX_UNITS)
		return cm_suite_refuse(parsing, "units",
				       "expected an object with a unit for each event");
	units = cm_arena_array(arena, json_object_size(object), sizeof(*units));
	if (!units)
		return no_memory(parsing);
	json_object_foreach(object, event, unit)
	{
		if (!json_is_string(unit))
			return cm_suite_refuse(parsing, "units", "a unit is a text");
		units[n].event = cm_arena_copy(arena, event, strlen(event));
		units[n].unit =
			cm_arena_copy(arena, json_string_value(unit), json_string_length(unit));
		if (!units[n].event || !units[n].unit)
			return no_memory(parsing);
		n++;
	}
	declaration->units = units;
	declaration->n_units = n;
	return 0;
}

/* All three, or, in a row that is never run, none. */
static int take_declaration(const struct cm_suite_parsing *parsing, const json_t *from,
			    struct cm_suite_row *row)
{
	struct cm_declaration *declaration = &row->worker.declaration;
	json_t *cpus = json_object_get(from, "cpus"), *units = json_object_get(from, "units");
	bool is_needed = !row->planned || cpus || units;
	int rc = cm_suite_take_text(parsing, from, "events", "events", is_needed,
				    &declaration->event_set);

	if (rc < 0)
		return rc;
	is_needed |= declaration->event_set != NULL;
	if (is_needed && !cpus)
		return cm_suite_refuse(parsing, "cpus", "missing");
	if (is_needed && !units)
		return cm_suite_refuse(parsing, "units", "missing");
	rc = take_cpus(parsing, cpus, declaration);
	return rc < 0 ? rc : take_units(parsing, units, declaration);
}

static int take_timeout(const struct cm_suite_parsing *parsing, const json_t *value,
			struct cm_worker_row *row)
{
	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 1 ||
	    json_integer_value(value) > CM_WORKER_MAX_TIMEOUT_S)
		return cm_suite_refuse(parsing, "timeout",
				       "expected whole seconds, from 1 to 31536000");
	row->timeout_s = (unsigned int)json_integer_value(value);
	return 0;
}

static int take_row(struct cm_suite_parsing *parsing, const json_t *from, struct cm_suite_row *row)
{
	static const char *const members[] = {"case",	"target",  "unavailable", "worker",
					      "oracle", "probes",  "events",	  "cpus",
					      "units",	"timeout", NULL};
	const json_t *worker = json_object_get(from, "worker");
	int rc;

	if (!json_is_object(from))
		return cm_suite_refuse(parsing, NULL, "expected an object");
	rc = cm_suite_take_id(parsing, from, "case", "case", &row->case_id);
	if (rc == 0)
		rc = cm_suite_take_target(parsing, json_object_get(from, "target"), row);
	if (rc == 0)
		rc = cm_suite_check_members(parsing, from, "", members);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, from, "unavailable", "unavailable", false,
					&row->planned);
	if (rc == 0 && !worker && !row->planned)
		rc = cm_suite_refuse(parsing, "worker", "missing");
	if (rc == 0 && worker)
		rc = cm_suite_take_worker(parsing, worker, &row->worker);
	if (rc == 0)
		rc = cm_suite_take_checks(parsing, from, &row->worker);
	if (rc == 0)
		rc = take_declaration(parsing, from, row);
	return rc < 0 ? rc : take_timeout(parsing, json_object_get(from, "timeout"), &row->worker);
}

static int compare_keys(const struct cm_suite_row *a, const struct cm_suite_row *b)
{
	int order = strcmp(a->case_id, b->case_id);

	return order ? order : strcmp(a->target_id, b->target_id);
}

static int compare_rows(const void *a, const void *b)
{
	const struct cm_suite_row *x = *(const struct cm_suite_row *const *)a;
	const struct cm_suite_row *y = *(const struct cm_suite_row *const *)b;
	int order = compare_keys(x, y);

	return order ? order : (x > y) - (x < y);
}

static int check_keys(struct cm_suite_parsing *parsing)
{
	const struct cm_suite *suite = parsing->suite;
	const struct cm_suite_row **rows = calloc(suite->n_rows + 1, sizeof(*rows));
	const struct cm_suite_row *first = NULL, *second = NULL;
	char what[128];

	if (!rows)
		return no_memory(parsing);
	for (size_t i = 0; i < suite->n_rows; i++)
		rows[i] = &suite->rows[i];
	qsort(rows, suite->n_rows, sizeof(*rows), compare_rows);
	for (size_t i = 1; i < suite->n_rows && !first; i++) {
		if (compare_keys(rows[i - 1], rows[i]) == 0) {
			first = rows[i - 1];
			second = rows[i];
		}
	}
	free(rows);
	if (!first)
		return 0;
	parsing->row = second;
	parsing->row_idx = (size_t)(second - suite->rows);
	snprintf(what, sizeof(what), "row %zu has the same case and target",
		 (size_t)(first - suite->rows) + 1);
	return cm_suite_refuse(parsing, "case, target.id", what);
}

static int take_rows(struct cm_suite_parsing *parsing, const json_t *list)
{
	struct cm_suite *suite = parsing->suite;
	size_t n = json_array_size(list);
	struct cm_suite_row *rows;
	int rc = 0;

	if (!json_is_array(list) || n > CM_SUITE_MAX_ROWS)
		return cm_suite_refuse(parsing, "rows", "expected an array of at most 100000 rows");
	rows = cm_arena_array(&suite->arena, n, sizeof(*rows));
	if (!rows)
		return no_memory(parsing);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		parsing->row_idx = i;
		parsing->row = &rows[i];
		rc = take_row(parsing, json_array_get(list, i), &rows[i]);
	}
	if (rc < 0)
		return rc;
	suite->rows = rows;
	suite->n_rows = n;
	return check_keys(parsing);
}

static int take_root(struct cm_suite_parsing *parsing, const json_t *root)
{
	static const char *const members[] = {"$schema", "callmark_suite", "name", "rows", NULL};
	const json_t *version = json_object_get(root, "callmark_suite");
	const char *schema;
	int rc;

	if (!json_is_object(root))
		return cm_suite_refuse(parsing, NULL, "expected an object");
	if (!json_is_integer(version) || json_integer_value(version) != CM_SUITE_FILE_VERSION)
		return cm_suite_refuse(parsing, "callmark_suite", "expected 1");
	rc = cm_suite_check_members(parsing, root, "", members);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, root, "$schema", "$schema", false, &schema);
	if (rc == 0)
		rc = cm_suite_take_text(parsing, root, "name", "name", true, &parsing->suite->name);
	return rc < 0 ? rc : take_rows(parsing, json_object_get(root, "rows"));
}

int cm_suite_parse(struct cm_suite *suite, const char *text, size_t n_bytes, const char *path,
		   const char *folder, struct cm_diag *diag)
{
	struct cm_suite_parsing parsing = {
		.suite = suite, .path = path, .folder = folder, .diag = diag};
	json_error_t error;
	json_t *root;
	int rc;

	suite->text = text;
	suite->n_text = n_bytes;
	root = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return cm_diag_set(diag, -EINVAL, "%s:%d:%d: %s", path, error.line, error.column,
				   error.text);
	rc = take_root(&parsing, root);
	json_decref(root);
	return rc;
}

int cm_suite_parse_file(struct cm_suite *suite, const char *path, struct cm_diag *diag)
{
	const char *text, *slash = strrchr(path, '/');
	char *name = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	char *folder = name ? realpath(name, NULL) : NULL;
	size_t n_bytes;
	int rc = folder ? 0 : -errno;

	*suite = (struct cm_suite){0};
	free(name);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", path, strerror(-rc));
	rc = cm_whole_file_read(path, MAX_FILE_BYTES, &suite->arena, &text, &n_bytes, diag);
	if (rc == 0)
		rc = cm_suite_parse(suite, text, n_bytes, path, folder, diag);
	free(folder);
	return rc;
}

void cm_suite_free(struct cm_suite *suite)
{
	cm_arena_fini(&suite->arena);
	*suite = (struct cm_suite){0};
}
