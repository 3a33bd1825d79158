/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts of rows and suites. */
#include "collector/suite-verdict.h"

#include <string.h>

static const char *const row_names[] = {
	[CM_ROW_PASS] = "pass",	      [CM_ROW_UNAVAILABLE] = "unavailable",
	[CM_ROW_INVALID] = "invalid", [CM_ROW_BLOCKED] = "blocked",
	[CM_ROW_ERROR] = "error",
};

const char *cm_row_verdict_name(enum cm_row_verdict verdict)
{
	return (unsigned int)verdict < CM_N_ROW_VERDICTS ? row_names[verdict] : "unknown";
}

enum cm_row_verdict cm_row_verdict_of(enum cm_counter_status status)
{
	switch (status) {
	case CM_COUNTER_COMPLETE:
		return CM_ROW_PASS;
	case CM_COUNTER_UNAVAILABLE:
		return CM_ROW_UNAVAILABLE;
	case CM_COUNTER_INVALID:
		return CM_ROW_INVALID;
	case CM_COUNTER_BLOCKED:
		return CM_ROW_BLOCKED;
	default:
		return CM_ROW_ERROR;
	}
}

enum cm_row_verdict cm_row_verdict_find(const char *name)
{
	int i;

	for (i = 0; i < CM_N_ROW_VERDICTS; i++)
		if (!strcmp(row_names[i], name))
			break;
	return (enum cm_row_verdict)i;
}

bool cm_row_verdict_is_failure(enum cm_row_verdict verdict)
{
	return verdict != CM_ROW_PASS && verdict != CM_ROW_UNAVAILABLE;
}

const char *cm_suite_verdict_name(enum cm_suite_verdict verdict)
{
	static const char *const names[] = {
		[CM_SUITE_EXECUTION_FAILED] = "execution_failed",
		[CM_SUITE_BLOCKED] = "blocked",
		[CM_SUITE_INVALID] = "invalid",
		[CM_SUITE_PARTIALLY_EXECUTED] = "partially_executed",
		[CM_SUITE_NOT_EXECUTED] = "not_executed",
		[CM_SUITE_VALIDATED] = "validated",
		[CM_SUITE_EXECUTED_WITH_WARNINGS] = "executed_with_warnings",
		[CM_SUITE_EXECUTED] = "executed",
	};

	return (unsigned int)verdict <= CM_SUITE_EXECUTED ? names[verdict] : "unknown";
}

void cm_suite_tally_add(struct cm_suite_tally *tally, enum cm_row_verdict verdict,
			const char *oracle, int64_t n_warnings, bool is_attempted)
{
	bool is_pass = verdict == CM_ROW_PASS;

	if ((unsigned int)verdict >= CM_N_ROW_VERDICTS)
		return;
	tally->n[verdict]++;
	tally->n_rows++;
	tally->n_attempted += is_attempted;
	tally->n_validated += is_pass && n_warnings == 0 && !strcmp(oracle, "passed");
	tally->n_warned += is_pass && n_warnings != 0;
}

enum cm_suite_verdict cm_suite_tally_verdict(const struct cm_suite_tally *tally)
{
	if (tally->n[CM_ROW_ERROR])
		return CM_SUITE_EXECUTION_FAILED;
	if (tally->n[CM_ROW_BLOCKED])
		return CM_SUITE_BLOCKED;
	if (tally->n[CM_ROW_INVALID])
		return CM_SUITE_INVALID;
	if (tally->n[CM_ROW_UNAVAILABLE] && tally->n_attempted)
		return CM_SUITE_PARTIALLY_EXECUTED;
	if (!tally->n_attempted)
		return CM_SUITE_NOT_EXECUTED;
	if (tally->n_validated == tally->n_rows)
		return CM_SUITE_VALIDATED;
	return tally->n_warned ? CM_SUITE_EXECUTED_WITH_WARNINGS : CM_SUITE_EXECUTED;
}
