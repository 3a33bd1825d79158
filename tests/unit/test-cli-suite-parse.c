/* SPDX-License-Identifier: BSD-3-Clause */
/* What is taken from a suite file. */
#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

#include "cli/suite-parse.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"
#define CURRENT "\"target\": {\"id\": \"t\", \"kind\": \"current\"}"
#define COUNT "\"events\": \"A:PMC0\", \"cpus\": [0], \"units\": {\"A\": \"1\"}"
#define WORKER "\"worker\": {\"path\": \"w.so\"}"
#define ROW(members) "{\"case\": \"c\", " CURRENT ", " members "}"
#define SUITE(rows) "{\"callmark_suite\": 1, \"name\": \"n\", \"rows\": [" rows "]}"

static int parse(struct cm_suite *suite, const char *text, struct cm_diag *diag)
{
	*suite = (struct cm_suite){0};
	return cm_suite_parse(suite, text, strlen(text), "s.json", "/folder", diag);
}

static void check_counting(const struct cm_worker_row *row)
{
	cr_assert_eq(row->n_probes, 2);
	cr_assert(row->probes[0].is_blocking);
	cr_assert_not(row->probes[1].is_blocking);
	cr_assert_str_eq(row->declaration.event_set, "A:PMC0,B:FIXC1");
	cr_assert_eq(row->declaration.n_cpuids, 2);
	cr_assert_eq(row->declaration.cpuids[0], 3);
	cr_assert_eq(row->declaration.n_units, 2);
	cr_assert_str_eq(row->declaration.units[0].event, "B");
	cr_assert_str_eq(row->declaration.units[0].unit, "s");
	cr_assert_eq(row->timeout_s, 5);
}

Test(suite_parse, all_of_a_row_is_taken)
{
	struct cm_suite suite;
	struct cm_diag diag = {0};
	const struct cm_suite_row *row;
	int rc = parse(&suite,
		       SUITE("{\"case\": \"dot.1\", \"target\": {\"id\": \"libm+2\", \"kind\": "
			     "\"release\","
			     "\"source\": \"libm.so.6\", \"version\": \"6\", \"sha256\": \"" SHA
			     "\","
			     "\"build_id\": \"ab\", \"soname\": \"libm.so.6\"},"
			     "\"worker\": {\"path\": \"/w.so\", \"sha256\": \"" SHA "\", \"files\":"
			     "[{\"path\": \"in\", \"sha256\": \"" SHA "\"}]},"
			     "\"oracle\": {\"function\": \"right\", \"required\": false},"
			     "\"probes\": [{\"function\": \"a\"}, {\"function\": \"b\", "
			     "\"blocking\": false}],"
			     "\"events\": \"A:PMC0,B:FIXC1\", \"cpus\": [3, 0],"
			     "\"units\": {\"B\": \"s\", \"A\": \"1\"}, \"timeout\": 5}"),
		       &diag);

	cr_assert_eq(rc, 0, "%s", diag.text);
	cr_assert_eq(suite.n_rows, 1);
	row = &suite.rows[0];
	cr_assert_str_eq(row->case_id, "dot.1");
	cr_assert_str_eq(row->target_id, "libm+2");
	cr_assert_null(row->planned);
	cr_assert_str_eq(row->worker.target.path, "/folder/libm.so.6");
	cr_assert_str_eq(row->worker.target.version, "6");
	cr_assert_str_eq(row->worker.target.build_id, "ab");
	cr_assert_str_eq(row->worker.target.soname, "libm.so.6");
	cr_assert_str_eq(row->worker.source.path, "/w.so");
	cr_assert_str_eq(row->worker.source.sha256, SHA);
	cr_assert_eq(row->worker.n_files, 1);
	cr_assert_str_eq(row->worker.files[0].path, "/folder/in");
	cr_assert_str_eq(row->worker.oracle, "right");
	cr_assert_not(row->worker.is_oracle_required);
	check_counting(&row->worker);
	cm_suite_free(&suite);
}

Test(suite_parse, what_is_left_out_has_the_documented_value)
{
	struct cm_suite suite;

	cr_assert_eq(parse(&suite,
			   SUITE(ROW(WORKER ", " COUNT ", \"oracle\": {\"function\": \"f\"}")),
			   NULL),
		     0);
	cr_assert(suite.rows[0].worker.is_oracle_required);
	cr_assert_eq(suite.rows[0].worker.timeout_s, 0); /* the engine's default */
	cr_assert_null(suite.rows[0].worker.source.sha256);
	cr_assert_null(suite.rows[0].worker.target.path);
	cm_suite_free(&suite);
}

Test(suite_parse, a_planned_row_needs_no_more_than_its_reason)
{
	struct cm_suite suite;

	cr_assert_eq(parse(&suite, SUITE(ROW("\"unavailable\": \"no GPU\"")), NULL), 0);
	cr_assert_str_eq(suite.rows[0].planned, "no GPU");
	cr_assert_null(suite.rows[0].worker.declaration.event_set);
	cm_suite_free(&suite);
}

Test(suite_parse, the_same_case_of_two_targets_is_two_rows_and_the_order_stays)
{
	struct cm_suite suite;

	cr_assert_eq(parse(&suite,
			   SUITE("{\"case\": \"z\", " CURRENT ", \"unavailable\": \"1\"},"
				 "{\"case\": \"c\", \"target\": {\"id\": \"u\", \"kind\": "
				 "\"current\"}, \"unavailable\": \"2\"},"
				 "{\"case\": \"c\", " CURRENT ", \"unavailable\": \"3\"}"),
			   NULL),
		     0);
	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(suite.rows[i].planned[0], (char)('1' + i));
	cm_suite_free(&suite);
}

Test(suite_parse, a_file_that_is_not_there_is_said)
{
	struct cm_suite suite;
	struct cm_diag diag = {0};

	cr_assert_eq(cm_suite_parse_file(&suite, "/tmp/no-such-suite.json", &diag), -ENOENT);
	cr_assert_not_null(strstr(diag.text, "no-such-suite.json"), "%s", diag.text);
	cm_suite_free(&suite);
	cr_assert_eq(cm_suite_parse_file(&suite, "/nonexistent/s.json", NULL), -ENOENT);
	cm_suite_free(&suite);
}
