/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The evidence of one row of a suite, as one HDF5 file: what was declared, what came of it, and,
 * where it was attempted, the observations with one raw diagnostic. callmark-suite(5) is the prose
 * of it, writer/h5-bundle-schema.h the names.
 *
 *	rc = cm_bundle_write("rows/0001/row.h5", &bundle, &diag);
 *	rc = cm_bundle_read(&file, "rows/0001/row.h5", &diag);
 *	... file->bundle ...
 *	cm_bundle_free(file);
 *
 * What contradicts itself is neither written nor read: cm_bundle_check(). A file is complete or
 * absent. Threads: one at a time for the whole process (HDF5 serial). Errors: negative errno and a
 * line in diag; -EINVAL for a refused bundle or a file that is none.
 */
#ifndef CALLMARK_WRITER_BUNDLE_H
#define CALLMARK_WRITER_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/diag.h"

/* How raw_value is written, and what LIKWID does not tell. */
#define CM_BUNDLE_ENCODING "IEEE 754 binary64 as decimal text, 17 significant digits (%.17g)"
#define CM_BUNDLE_SCOPE "selected-CPU back-end window"
#define CM_BUNDLE_TIME_ABSENT "LIKWID's interface does not expose it"

struct cm_bundle_observation {
	const char *definition_id; /* SHA-256 of what defines it, 64 hexadecimal digits */
	const char *event;
	const char *counter;
	int64_t cpu_id;
	const char *unit;
	const char *raw_value; /* text; value is the same number */
	double value;
};

struct cm_bundle_probe {
	const char *function;
	const char *state;
	int64_t is_blocking;
};

struct cm_bundle_bytes {
	const char *bytes; /* [n]; may have NUL in it */
	size_t n;
};

struct cm_bundle_texts {
	const char *const *texts; /* [n] */
	size_t n;
};

struct cm_bundle_integers {
	const int64_t *values; /* [n] */
	size_t n;
};

/* Texts that are NULL are written as "", and never NULL in what was read. All is borrowed. */
struct cm_bundle {
	/* The row. */
	const char *suite;
	const char *run_id; /* UUID of the suite's run */
	int64_t row;	    /* from 1 */
	const char *case_id;
	const char *target_id;
	const char *target_kind;
	const char *target_version;
	const char *target_source;
	const char *host;
	const char *started; /* ISO 8601, UTC */

	/* Its declaration. */
	const char *event_set;
	struct cm_bundle_integers cpuids;
	struct cm_bundle_texts units; /* "EVENT=UNIT" */
	const char *worker;
	const char *worker_sha256;
	struct cm_bundle_texts files; /* "SHA-256  path" */
	const char *oracle_function;
	int64_t is_oracle_required;
	int64_t timeout_s;
	const char *planned; /* why it was never to be run; "" for others */

	/* Its qualification. */
	const char *verdict;
	const char *status;
	const char *reason;
	const char *detail;
	const char *oracle;
	int64_t n_warnings;
	double elapsed_seconds;
	const char *source_sha256; /* these as they were found */
	const char *target_sha256;
	const char *target_build_id;
	const char *target_soname;
	const char *found_version;
	const struct cm_bundle_probe *probes;
	size_t n_probes;

	/* The evidence of an attempt; a row planned to be unavailable has none. */
	bool is_attempted;
	const char *attempt_id; /* UUID */
	const char *access_mode;
	const char *cpu_name;
	const char *library;
	bool has_group_time;
	double group_time_seconds;
	bool has_perf_pid;
	int64_t perf_pid;
	struct cm_bundle_integers allowed_cpuids;
	struct cm_bundle_texts backend_added_events;
	struct cm_bundle_texts variables;
	const struct cm_bundle_observation *observations; /* CPU by CPU */
	size_t n_observations;

	/* The raw diagnostic, one for each attempt. */
	int64_t pid;
	int64_t wait_status;
	int64_t is_timed_out;
	const char *step;
	const char *folder;
	struct cm_bundle_texts environment; /* names of variables, no values */
	struct cm_bundle_bytes last_output;
	struct cm_bundle_bytes handed_over;
};

/*
 * Refused, with -EINVAL: complete without observations; observations of anything that is neither
 * complete nor invalid; a value or group time that is negative or not finite, or whose text is
 * another number; an attempt without its UUIDs; evidence without an attempt.
 */
int cm_bundle_check(const struct cm_bundle *bundle, struct cm_diag *diag);

/* What stood under the name is replaced. */
int cm_bundle_write(const char *path, const struct cm_bundle *bundle, struct cm_diag *diag);

struct cm_bundle_file {
	struct cm_bundle bundle;
};

int cm_bundle_read(struct cm_bundle_file **ret_file, const char *path, struct cm_diag *diag);
void cm_bundle_free(struct cm_bundle_file *file); /* NULL is allowed */

/* The suite's own file: external links /rows/<case>/<target> to the roots of the rows' files. */
struct cm_bundle_link {
	const char *case_id;
	const char *target_id;
	const char *path; /* relative to the suite's file; need not exist yet */
};

int cm_bundle_write_suite(const char *path, const char *suite, const char *run_id,
			  const struct cm_bundle_link *links, size_t n_links, struct cm_diag *diag);

#endif
