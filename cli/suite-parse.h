/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A suite file, callmark-suite(5), read and judged: its form here, cli/suite.schema.json says the
 * same; the declarations of its rows by cm_suite_check_rows().
 *
 *	rc = cm_suite_parse_file(&suite, "suite.json", &diag);
 *	cm_suite_free(&suite);
 *
 * Threads: one at a time. Errors: -EINVAL and a line in diag that names the row and the field, or
 * the line of the file; those of reading a file; -ENOMEM. The suite needs cm_suite_free() whatever
 * is returned.
 */
#ifndef CALLMARK_CLI_SUITE_PARSE_H
#define CALLMARK_CLI_SUITE_PARSE_H

#include <jansson.h>
#include <stdbool.h>

#include "collector/suite.h"

#define CM_SUITE_FILE_VERSION 1

/* Relative paths in it are taken from its folder, and absolute in the suite. */
int cm_suite_parse_file(struct cm_suite *suite, const char *path, struct cm_diag *diag);

/*
 * The same for text in memory, which is borrowed, into a zeroed suite; `path` is for messages,
 * `folder` is absolute.
 */
int cm_suite_parse(struct cm_suite *suite, const char *text, size_t n_bytes, const char *path,
		   const char *folder, struct cm_diag *diag);

void cm_suite_free(struct cm_suite *suite);

/* The rest is private to suite-parse*.c. */
struct cm_suite_parsing {
	struct cm_suite *suite;
	const char *path;
	const char *folder;
	size_t row_idx;
	const struct cm_suite_row *row; /* the one being read, as far as it is known; NULL: none */
	struct cm_diag *diag;
};

/* A line "<path>: row 3 (dot/libm): <field>: <what>". Returns -EINVAL. */
int cm_suite_refuse(const struct cm_suite_parsing *parsing, const char *field, const char *what);

/* The members of an object are these and no others; `prefix` is the field that it stands in. */
int cm_suite_check_members(const struct cm_suite_parsing *parsing, const json_t *object,
			   const char *prefix, const char *const *names);

/* A text without control characters that is not empty, or absent where it may be. */
int cm_suite_take_text(const struct cm_suite_parsing *parsing, const json_t *object,
		       const char *key, const char *field, bool is_needed, const char **ret_text);

/* What becomes a name in files: see collector/suite.h. */
int cm_suite_take_id(const struct cm_suite_parsing *parsing, const json_t *object, const char *key,
		     const char *field, const char **ret_id);

/* true, false, or absent. */
int cm_suite_take_bool(const struct cm_suite_parsing *parsing, const json_t *object,
		       const char *key, const char *field, bool *ret_value);

/* Members of a row: "target", "worker", and "oracle" and "probes". */
int cm_suite_take_target(const struct cm_suite_parsing *parsing, const json_t *object,
			 struct cm_suite_row *row);
int cm_suite_take_worker(const struct cm_suite_parsing *parsing, const json_t *object,
			 struct cm_worker_row *row);
int cm_suite_take_checks(const struct cm_suite_parsing *parsing, const json_t *from,
			 struct cm_worker_row *row);

#endif
