/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building JSON values whose strings come from files, and printing them piece by piece.
 *
 *	struct cm_json json = {.out = stdout};
 *	object = json_object();
 *	cm_json_set(&json, object, "tag", cm_json_text(tag));
 *	cm_json_dump(&json, object, 0);
 *	return json.is_bad && !ferror(out) ? -ENOMEM : 0;
 *
 * Members are added without looking: a failure anywhere (always memory) leaves a NULL or a missing
 * member, which is_bad remembers until the end. Threads: one at a time.
 */
#ifndef CALLMARK_CLI_JSON_BUILD_H
#define CALLMARK_CLI_JSON_BUILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct cm_json {
	FILE *out;
	bool is_bad;
};

/* Both take the value over. */
void cm_json_set(struct cm_json *json, json_t *object, const char *name, json_t *value);
void cm_json_push(struct cm_json *json, json_t *array, json_t *value);
/* The name comes from a file. */
void cm_json_set_named(struct cm_json *json, json_t *object, const char *raw_name, json_t *value);

/* Invalid UTF-8 becomes U+FFFD; NULL is "". */
json_t *cm_json_text(const char *raw);
json_t *cm_json_texts(struct cm_json *json, const char *const *raw, size_t n);
/* Above INT64_MAX: that. */
json_t *cm_json_unsigned(uint64_t n);
/* Null where it is not finite. */
json_t *cm_json_real(double value);
/* The same with the strings "inf" and "-inf" for those; null is NaN. */
json_t *cm_json_number(double value);
/* Zeros at the end are left out. */
json_t *cm_json_histogram(struct cm_json *json, const uint64_t *histogram, size_t n_buckets);

/* Print as ASCII and give up the value; `flags` may add JSON_EMBED: without the braces. */
void cm_json_dump(struct cm_json *json, json_t *value, size_t flags);

#endif
