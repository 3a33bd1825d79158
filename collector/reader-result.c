/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything is looked at twice: its type, and whether its size is what the rest says. */
#include "collector/reader-result.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "collector/whole-file.h"

#define MAX_GROUPS 1024
#define MAX_COLUMNS 65536 /* hardware threads, events, metrics */
#define FORMAT 1

/* What the groups say, for their regions to share. */
struct group {
	const char *name;
	const char *const *events;
	const char *const *counters;
	const char *const *metrics;
	size_t n_events;
	size_t n_metrics;
};

struct loader {
	struct cm_arena *arena;
	struct group *groups;
	size_t n_groups;
};

static const char *copy_text(struct loader *loader, const json_t *value)
{
	return cm_arena_copy(loader->arena, json_string_value(value), json_string_length(value));
}

static int take_names(struct loader *loader, const json_t *list, const char *const **ret_names,
		      size_t *ret_n)
{
	size_t n = json_array_size(list);
	const char **names;

	if (!json_is_array(list) || n > MAX_COLUMNS)
		return -EINVAL;
	names = cm_arena_array(loader->arena, n, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *name = json_array_get(list, i);

		if (!json_is_string(name))
			return -EINVAL;
		names[i] = copy_text(loader, name);
		if (!names[i])
			return -ENOMEM;
	}
	*ret_names = names;
	*ret_n = n;
	return 0;
}

static int take_group(struct loader *loader, const json_t *value, size_t idx)
{
	const json_t *id = json_object_get(value, "id"), *name = json_object_get(value, "name");
	struct group *group = &loader->groups[idx];
	size_t n_counters = 0;
	int rc;

	/* The writer of the file numbers them as they stand there. */
	if (!json_is_integer(id) || json_integer_value(id) != (json_int_t)idx ||
	    !json_is_string(name))
		return -EINVAL;
	group->name = copy_text(loader, name);
	if (!group->name)
		return -ENOMEM;
	rc = take_names(loader, json_object_get(value, "events"), &group->events, &group->n_events);
	if (rc == 0)
		rc = take_names(loader, json_object_get(value, "counters"), &group->counters,
				&n_counters);
	if (rc == 0)
		rc = take_names(loader, json_object_get(value, "metrics"), &group->metrics,
				&group->n_metrics);
	return rc == 0 && n_counters != group->n_events ? -EINVAL : rc;
}

static int take_groups(struct loader *loader, const json_t *list)
{
	size_t n = json_array_size(list);
	int rc = 0;

	if (!json_is_array(list) || n > MAX_GROUPS)
		return -EINVAL;
	loader->groups = cm_arena_array(loader->arena, n, sizeof(*loader->groups));
	if (!loader->groups)
		return -ENOMEM;
	loader->n_groups = n;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_group(loader, json_array_get(list, i), i);
	return rc;
}

static int take_number(const json_t *value, double *ret_number)
{
	if (json_is_number(value))
		*ret_number = json_number_value(value);
	else if (json_is_null(value))
		*ret_number = NAN;
	else if (json_is_string(value) && !strcmp(json_string_value(value), "inf"))
		*ret_number = INFINITY;
	else if (json_is_string(value) && !strcmp(json_string_value(value), "-inf"))
		*ret_number = -INFINITY;
	else
		return -EINVAL;
	return 0;
}

/* An array of exactly n numbers. */
static int take_numbers(const json_t *list, double *numbers, size_t n)
{
	int rc = 0;

	if (!json_is_array(list) || json_array_size(list) != n)
		return -EINVAL;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_number(json_array_get(list, i), &numbers[i]);
	return rc;
}

/* An array of exactly n integers that are not negative. */
static int take_integers(struct loader *loader, const json_t *list, const int64_t **ret_integers,
			 size_t n)
{
	int64_t *integers = cm_arena_array(loader->arena, n, sizeof(*integers));

	if (!integers)
		return -ENOMEM;
	if (!json_is_array(list) || json_array_size(list) != n)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		const json_t *value = json_array_get(list, i);

		if (!json_is_integer(value) || json_integer_value(value) < 0)
			return -EINVAL;
		integers[i] = json_integer_value(value);
	}
	*ret_integers = integers;
	return 0;
}

/* n_rows arrays of n numbers each, one behind the other. */
static int take_rows(struct loader *loader, const json_t *list, const double **ret_rows,
		     size_t n_rows, size_t n)
{
	double *rows;
	int rc = 0;

	if (!json_is_array(list) || json_array_size(list) != n_rows)
		return -EINVAL;
	for (size_t i = 0; i < n_rows; i++) { /* before memory is taken for them */
		if (json_array_size(json_array_get(list, i)) != n)
			return -EINVAL;
	}
	rows = cm_arena_array(loader->arena, n_rows * n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < n_rows; i++)
		rc = take_numbers(json_array_get(list, i), rows + i * n, n);
	*ret_rows = rows;
	return rc;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_tag(struct loader *loader, const json_t *region, const char **ret_tag)
{
	const json_t *tag = json_object_get(region, "tag");
	const json_t *hex = json_object_get(region, "tag_hex");
	const char *digits = json_string_value(hex);
	size_t n = json_string_length(hex);
	char *bytes;

	if (!json_is_string(tag) || (hex && (!digits || n % 2)))
		return -EINVAL;
	if (!hex) {
		*ret_tag = copy_text(loader, tag);
		return *ret_tag ? 0 : -ENOMEM;
	}
	bytes = cm_arena_array(loader->arena, n / 2 + 1, 1);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < n / 2; i++) {
		int high = hex_digit(digits[2 * i]), low = hex_digit(digits[2 * i + 1]);

		if (high < 0 || low < 0 || (!high && !low))
			return -EINVAL;
		bytes[i] = (char)(high << 4 | low);
	}
	*ret_tag = bytes;
	return 0;
}

/* The region's group, whose names it shares. */
static int take_region_group(const struct loader *loader, const json_t *region,
			     struct cm_profile_counters *counters)
{
	const json_t *id = json_object_get(region, "group");
	const struct group *group;

	if (!json_is_integer(id) || json_integer_value(id) < 0 ||
	    (size_t)json_integer_value(id) >= loader->n_groups)
		return -EINVAL;
	group = &loader->groups[json_integer_value(id)];
	counters->group_id = json_integer_value(id);
	counters->group_name = group->name;
	counters->source = "full_api";
	counters->event_names = group->events;
	counters->counter_names = group->counters;
	counters->metric_names = group->metrics;
	counters->n_events = group->n_events;
	counters->n_metrics = group->n_metrics;
	return 0;
}

static int take_times(struct loader *loader, const json_t *list, const double **ret_times, size_t n)
{
	double *times = cm_arena_array(loader->arena, n, sizeof(*times));

	*ret_times = times;
	return times ? take_numbers(list, times, n) : -ENOMEM;
}

static int take_region(struct loader *loader, const json_t *value,
		       struct cm_profile_counters *counters)
{
	const json_t *cpus = json_object_get(value, "cpus");
	size_t n = json_array_size(cpus);
	int rc = take_region_group(loader, value, counters);

	if (rc == 0 && (!n || n > MAX_COLUMNS))
		rc = -EINVAL;
	counters->n_cpus = n;
	if (rc == 0)
		rc = take_tag(loader, value, &counters->tag);
	if (rc == 0)
		rc = take_integers(loader, cpus, &counters->cpus, n);
	if (rc == 0)
		rc = take_integers(loader, json_object_get(value, "counts"), &counters->call_counts,
				   n);
	if (rc == 0)
		rc = take_times(loader, json_object_get(value, "times"), &counters->times, n);
	if (rc == 0)
		rc = take_rows(loader, json_object_get(value, "events"), &counters->events,
			       counters->n_events, n);
	if (rc == 0)
		rc = take_rows(loader, json_object_get(value, "metrics"), &counters->metrics,
			       counters->n_metrics, n);
	return rc;
}

static int take_result(struct loader *loader, const json_t *root, struct cm_reader_result *result)
{
	const json_t *cpu = json_object_get(root, "cpu");
	const json_t *regions = json_object_get(root, "regions");
	size_t n = json_array_size(regions);
	int rc = 0;

	if (json_integer_value(json_object_get(root, "callmark_reader")) != FORMAT ||
	    !json_is_true(json_object_get(root, "complete")) || !json_is_string(cpu) ||
	    !json_is_array(regions))
		return -EINVAL;
	rc = take_groups(loader, json_object_get(root, "groups"));
	if (rc < 0)
		return rc;
	result->cpu_name = copy_text(loader, cpu);
	result->counters = cm_arena_array(loader->arena, n, sizeof(*result->counters));
	if (!result->cpu_name || !result->counters)
		return -ENOMEM;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_region(loader, json_array_get(regions, i), &result->counters[i]);
	result->n_counters = n;
	return rc;
}

int cm_reader_result_parse(struct cm_reader_result *result, const char *text, size_t n_bytes,
			   const char *name, struct cm_arena *arena, struct cm_diag *diag)
{
	struct loader loader = {.arena = arena};
	json_error_t error;
	json_t *root = json_loadb(text, n_bytes, JSON_REJECT_DUPLICATES, &error);
	int rc;

	memset(result, 0, sizeof(*result));
	if (!root)
		return cm_diag_set(diag, -EINVAL, "%s line %d: %s", name, error.line, error.text);
	rc = take_result(&loader, root, result);
	json_decref(root);
	if (rc == -EINVAL)
		return cm_diag_set(diag, rc, "%s: not a complete result of callmark-reader", name);
	if (rc < 0)
		return cm_diag_set(diag, rc, "%s: %s", name, strerror(-rc));
	return 0;
}

int cm_reader_result_load(struct cm_reader_result *result, const char *path, struct cm_arena *arena,
			  struct cm_diag *diag)
{
	struct cm_arena text_arena = {0}; /* the text is much longer than what is kept of it */
	const char *text;
	size_t n_bytes;
	int rc = cm_whole_file_read(path, CM_READER_MAX_BYTES, &text_arena, &text, &n_bytes, diag);

	if (rc >= 0)
		rc = cm_reader_result_parse(result, text, n_bytes, path, arena, diag);
	cm_arena_fini(&text_arena);
	return rc;
}
