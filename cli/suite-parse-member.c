/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite file: single members of its objects, and the line that says which one is wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/suite-parse.h"

#define LETTERS_DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define MAX_TEXT_BYTES 4000
#define PLACE_BYTES 480
#define FIELD_BYTES 160

int cm_suite_refuse(const struct cm_suite_parsing *parsing, const char *field, const char *what)
{
	const struct cm_suite_row *row = parsing->row;
	char place[PLACE_BYTES] = "";
	int n = 0;

	if (row && row->case_id)
		n = snprintf(place, sizeof(place), "row %zu (%s%s%s): ", parsing->row_idx + 1,
			     row->case_id, row->target_id ? "/" : "",
			     row->target_id ? row->target_id : "");
	else if (row)
		n = snprintf(place, sizeof(place), "row %zu: ", parsing->row_idx + 1);
	if (field && n >= 0 && (size_t)n < sizeof(place))
		snprintf(place + n, sizeof(place) - (size_t)n, "%s: ", field);
	return cm_diag_set(parsing->diag, -EINVAL, "%s: %s%s", parsing->path, place, what);
}

int cm_suite_check_members(const struct cm_suite_parsing *parsing, const json_t *object,
			   const char *prefix, const char *const *names)
{
	char field[FIELD_BYTES];
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		size_t i = 0;

		while (names[i] && strcmp(names[i], key) != 0)
			i++;
		if (names[i])
			continue;
		snprintf(field, sizeof(field), "%s%s%.100s", prefix, *prefix ? "." : "", key);
		return cm_suite_refuse(parsing, field, "there is no such field");
	}
	return 0;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

int cm_suite_take_text(const struct cm_suite_parsing *parsing, const json_t *object,
		       const char *key, const char *field, bool is_needed, const char **ret_text)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	if (!value)
		return is_needed ? cm_suite_refuse(parsing, field, "missing") : 0;
	if (!text || !*text)
		return cm_suite_refuse(parsing, field, "expected a text that is not empty");
	if (json_string_length(value) > MAX_TEXT_BYTES || has_control(text))
		return cm_suite_refuse(parsing, field,
				       "expected one line of at most 4000 bytes without control "
				       "characters");
	*ret_text = cm_arena_copy(&parsing->suite->arena, text, strlen(text));
	return *ret_text ? 0
			 : cm_diag_set(parsing->diag, -ENOMEM, "%s: out of memory", parsing->path);
}

int cm_suite_take_id(const struct cm_suite_parsing *parsing, const json_t *object, const char *key,
		     const char *field, const char **ret_id)
{
	const char *id;
	int rc = cm_suite_take_text(parsing, object, key, field, true, &id);

	if (rc < 0)
		return rc;
	if (!strchr(LETTERS_DIGITS, *id) || strspn(id, LETTERS_DIGITS "._+-") != strlen(id) ||
	    strlen(id) > CM_SUITE_MAX_ID)
		return cm_suite_refuse(parsing, field,
				       "expected letters, digits and . _ + -, a letter or digit "
				       "first, at most 100");
	*ret_id = id;
	return 0;
}

int cm_suite_take_bool(const struct cm_suite_parsing *parsing, const json_t *object,
		       const char *key, const char *field, bool *ret_value)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		return 0;
	if (!json_is_boolean(value))
		return cm_suite_refuse(parsing, field, "expected true or false");
	*ret_value = json_is_true(value);
	return 0;
}
