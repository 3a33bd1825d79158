/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON values from what stands in files. */
#include "cli/json-build.h"

#include <math.h>
#include <stdlib.h>

#include "cli/text.h"

#define DUMP_FLAGS (JSON_ENSURE_ASCII | JSON_COMPACT | JSON_ENCODE_ANY)

void cm_json_set(struct cm_json *json, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) < 0)
		json->is_bad = true;
}

void cm_json_set_named(struct cm_json *json, json_t *object, const char *raw_name, json_t *value)
{
	char *name;

	if (cm_text_repair(raw_name, &name) < 0) {
		json->is_bad = true;
		json_decref(value);
		return;
	}
	cm_json_set(json, object, name, value);
	free(name);
}

void cm_json_push(struct cm_json *json, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) < 0)
		json->is_bad = true;
}

json_t *cm_json_text(const char *raw)
{
	json_t *value;
	char *text;

	if (cm_text_repair(raw ? raw : "", &text) < 0)
		return NULL;
	value = json_string(text);
	free(text);
	return value;
}

json_t *cm_json_texts(struct cm_json *json, const char *const *raw, size_t n)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		cm_json_push(json, array, cm_json_text(raw[i]));
	return array;
}

json_t *cm_json_unsigned(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *cm_json_real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *cm_json_number(double value)
{
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return cm_json_real(value);
}

json_t *cm_json_histogram(struct cm_json *json, const uint64_t *histogram, size_t n_buckets)
{
	json_t *array = json_array();
	size_t i;

	while (n_buckets && !histogram[n_buckets - 1])
		n_buckets--;
	for (i = 0; i < n_buckets; i++)
		cm_json_push(json, array, cm_json_unsigned(histogram[i]));
	return array;
}

void cm_json_dump(struct cm_json *json, json_t *value, size_t flags)
{
	if (!value || json_dumpf(value, json->out, DUMP_FLAGS | flags) < 0)
		json->is_bad = true;
	json_decref(value);
}
