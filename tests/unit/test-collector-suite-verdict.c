/* SPDX-License-Identifier: BSD-3-Clause */
/* One word for a row, and one for all of them. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <string.h>

#include "collector/suite-verdict.h"

Test(suite_verdict, rows_of_each_status_have_theirs)
{
	cr_assert_eq(cm_row_verdict_of(CM_COUNTER_COMPLETE), CM_ROW_PASS);
	cr_assert_eq(cm_row_verdict_of(CM_COUNTER_UNAVAILABLE), CM_ROW_UNAVAILABLE);
	cr_assert_eq(cm_row_verdict_of(CM_COUNTER_BLOCKED), CM_ROW_BLOCKED);
	cr_assert_eq(cm_row_verdict_of(CM_COUNTER_INVALID), CM_ROW_INVALID);
	cr_assert_eq(cm_row_verdict_of(CM_COUNTER_FAILED), CM_ROW_ERROR);
}

Test(suite_verdict, names_are_found_again_and_others_are_not)
{
	for (int i = 0; i < CM_N_ROW_VERDICTS; i++) {
		enum cm_row_verdict verdict = (enum cm_row_verdict)i;

		cr_assert_eq(cm_row_verdict_find(cm_row_verdict_name(verdict)), verdict);
	}
	cr_assert_eq(cm_row_verdict_find(""), CM_N_ROW_VERDICTS);
	cr_assert_eq(cm_row_verdict_find("Pass"), CM_N_ROW_VERDICTS);
	cr_assert_str_eq(cm_row_verdict_name(CM_N_ROW_VERDICTS), "unknown");
}

Test(suite_verdict, unavailable_is_no_failure)
{
	cr_assert_not(cm_row_verdict_is_failure(CM_ROW_PASS));
	cr_assert_not(cm_row_verdict_is_failure(CM_ROW_UNAVAILABLE));
	cr_assert(cm_row_verdict_is_failure(CM_ROW_INVALID));
	cr_assert(cm_row_verdict_is_failure(CM_ROW_BLOCKED));
	cr_assert(cm_row_verdict_is_failure(CM_ROW_ERROR));
}

/* Rows as letters: V validated, p passed without oracle, w with warnings, W both, u, P planned...
 */
struct suite_case {
	char rows[12];
	char verdict[24];
};

ParameterizedTestParameters(suite_verdict, the_first_that_is_true_decides)
{
	static struct suite_case cases[] = {
		{"", "not_executed"},
		{"PP", "not_executed"},
		{"u", "partially_executed"},
		{"VPV", "partially_executed"},
		{"Vu", "partially_executed"},
		{"V", "validated"},
		{"VVV", "validated"},
		{"VW", "executed_with_warnings"},
		{"Vw", "executed_with_warnings"},
		{"pw", "executed_with_warnings"},
		{"Vp", "executed"},
		{"p", "executed"},
		{"Vuwi", "invalid"},
		{"iVb", "blocked"},
		{"bieVu", "execution_failed"},
		{"e", "execution_failed"},
	};

	return cr_make_param_array(struct suite_case, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct suite_case *it, suite_verdict, the_first_that_is_true_decides)
{
	static const char letters[] = "VpwWuPibe";
	static const enum cm_row_verdict verdicts[] = {
		CM_ROW_PASS,	CM_ROW_PASS,	    CM_ROW_PASS,
		CM_ROW_PASS,	CM_ROW_UNAVAILABLE, CM_ROW_UNAVAILABLE,
		CM_ROW_INVALID, CM_ROW_BLOCKED,	    CM_ROW_ERROR,
	};
	struct cm_suite_tally tally = {0};

	for (const char *p = it->rows; *p; p++)
		cm_suite_tally_add(&tally, verdicts[strchr(letters, *p) - letters],
				   strchr("VW", *p) ? "passed" : "not_declared",
				   strchr("wW", *p) ? 1 : 0, *p != 'P');
	cr_assert_eq(tally.n_rows, strlen(it->rows));
	cr_assert_str_eq(cm_suite_verdict_name(cm_suite_tally_verdict(&tally)), it->verdict,
			 "%s: %s", it->rows, cm_suite_verdict_name(cm_suite_tally_verdict(&tally)));
}
