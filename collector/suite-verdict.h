/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What came of a row in one word, and of all rows.
 *
 *	struct cm_suite_tally tally = {0};
 *	cm_suite_tally_add(&tally, verdict, "passed", n_warnings, is_attempted);
 *	name = cm_suite_verdict_name(cm_suite_tally_verdict(&tally));
 *
 * Nothing can fail. Threads: any.
 */
#ifndef CALLMARK_COLLECTOR_SUITE_VERDICT_H
#define CALLMARK_COLLECTOR_SUITE_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/callmark/measure.h"

enum cm_row_verdict {
	CM_ROW_PASS,
	CM_ROW_UNAVAILABLE,
	CM_ROW_INVALID,
	CM_ROW_BLOCKED,
	CM_ROW_ERROR,
	CM_N_ROW_VERDICTS,
};

/* In the order in which they are decided: the first that is true. */
enum cm_suite_verdict {
	CM_SUITE_EXECUTION_FAILED,   /* a row is an error */
	CM_SUITE_BLOCKED,	     /* a row is blocked */
	CM_SUITE_INVALID,	     /* a row is invalid */
	CM_SUITE_PARTIALLY_EXECUTED, /* a row that was attempted, or others, are unavailable */
	CM_SUITE_NOT_EXECUTED,	     /* no row was attempted */
	CM_SUITE_VALIDATED,	     /* the oracle of every row agreed, and nothing was missed */
	CM_SUITE_EXECUTED_WITH_WARNINGS, /* a probe that does not block was missed */
	CM_SUITE_EXECUTED,
};

/* "pass", "unavailable", "invalid", "blocked", "error". */
const char *cm_row_verdict_name(enum cm_row_verdict verdict);

enum cm_row_verdict cm_row_verdict_of(enum cm_counter_status status);

/* The verdict of that name; CM_N_ROW_VERDICTS where there is none. */
enum cm_row_verdict cm_row_verdict_find(const char *name);

/* Does --strict, and a CI, take it for a failure? Unavailable is none, and no success either. */
bool cm_row_verdict_is_failure(enum cm_row_verdict verdict);

/* "execution_failed", "blocked", ... */
const char *cm_suite_verdict_name(enum cm_suite_verdict verdict);

struct cm_suite_tally {
	size_t n[CM_N_ROW_VERDICTS];
	size_t n_rows;	    /* added */
	size_t n_attempted; /* of them */
	size_t n_validated; /* pass, the oracle agreed, without warnings */
	size_t n_warned;    /* pass, with warnings */
};

/* oracle: cm_worker_oracle_name()'s. */
void cm_suite_tally_add(struct cm_suite_tally *tally, enum cm_row_verdict verdict,
			const char *oracle, int64_t n_warnings, bool is_attempted);

enum cm_suite_verdict cm_suite_tally_verdict(const struct cm_suite_tally *tally);

#endif
