/* SPDX-License-Identifier: BSD-3-Clause */
/* What is kept of a row, and what is refused. */
#include <criterion/criterion.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sha256.h"
#include "tests/unit/suite-fixture.h"

static int make(struct suite_fixture *fixture, const struct cm_worker_outcome *outcome,
		struct cm_bundle *bundle, struct cm_diag *diag)
{
	struct cm_suite_about about = suite_about(0);

	return cm_suite_bundle_make(bundle, &about, &fixture->rows[0], outcome,
				    &fixture->suite.arena, diag);
}

Test(suite_bundle, values_keep_every_bit_as_text_and_as_number)
{
	struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);
	struct suite_fixture fixture;
	struct cm_bundle bundle;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(make(&fixture, &outcome, &bundle, &diag), 0, "%s", diag.text);
	cr_assert_eq(bundle.n_observations, SUITE_N_RECORDS);
	for (size_t i = 0; i < SUITE_N_RECORDS; i++) {
		cr_assert(bundle.observations[i].value == suite_values[i]);
		cr_assert(strtod(bundle.observations[i].raw_value, NULL) == suite_values[i]);
	}
	cr_assert_str_eq(bundle.observations[0].raw_value, "18014398509481988");
	cr_assert_str_eq(bundle.observations[1].event, "L2_LINES");
	cr_assert_eq(bundle.observations[2].cpu_id, 3);
	cr_assert_str_eq(bundle.access_mode, "PERF");
	cr_assert(bundle.has_perf_pid && bundle.perf_pid == 4711);
	cr_assert_eq(bundle.allowed_cpuids.n, 4);
	cr_assert_str_eq(bundle.units.texts[1], "L2_LINES=lines");
	cr_assert_str_eq(bundle.verdict, "pass");
	suite_fixture_fini(&fixture);
}

Test(suite_bundle, the_same_input_makes_the_same_bundle)
{
	struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);
	struct suite_fixture fixture;
	struct cm_bundle a, b;

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(make(&fixture, &outcome, &a, NULL), 0);
	cr_assert_eq(make(&fixture, &outcome, &b, NULL), 0);
	for (size_t i = 0; i < SUITE_N_RECORDS; i++)
		cr_assert_str_eq(a.observations[i].definition_id, b.observations[i].definition_id);
	cr_assert_str_eq(a.attempt_id, SUITE_ATTEMPT_ID);
	cr_assert_eq(suite_n_run, 0);
	suite_fixture_fini(&fixture);
}

Test(suite_bundle, a_definition_is_event_counter_cpu_unit_mode_and_whether_there_is_a_pid)
{
	struct cm_bundle bundle = {.access_mode = "PERF", .has_perf_pid = true, .perf_pid = 1};
	struct cm_bundle_observation observation = {
		.event = "A", .counter = "PMC0", .cpu_id = 1, .unit = "1"};
	static const char text[] =
		"event=A\ncounter=PMC0\ncpu=1\nunit=1\nmode=PERF\nperf_pid=set\n";
	char first[CM_SHA256_TEXT_BYTES], other[CM_SHA256_TEXT_BYTES];

	cr_assert_eq(cm_suite_definition_id(&bundle, &observation, first, NULL), 0);
	cr_assert_eq(cm_sha256_bytes(text, strlen(text), other, NULL), 0);
	cr_assert_str_eq(first, other);
	bundle.perf_pid = 2; /* another process, the same definition */
	observation.value = 5;
	cr_assert_eq(cm_suite_definition_id(&bundle, &observation, other, NULL), 0);
	cr_assert_str_eq(first, other);
	bundle.has_perf_pid = false;
	cr_assert_eq(cm_suite_definition_id(&bundle, &observation, other, NULL), 0);
	cr_assert_str_neq(first, other);
	bundle.has_perf_pid = true;
	observation.unit = "s";
	cr_assert_eq(cm_suite_definition_id(&bundle, &observation, other, NULL), 0);
	cr_assert_str_neq(first, other);
}

Test(suite_bundle, a_planned_row_has_its_reason_and_no_evidence)
{
	struct suite_fixture fixture;
	struct cm_suite_about about = suite_about(1);
	struct cm_bundle bundle;

	suite_fixture_init(&fixture, 2);
	cr_assert_eq(cm_suite_bundle_make(&bundle, &about, &fixture.rows[1], NULL,
					  &fixture.suite.arena, NULL),
		     0);
	cr_assert_not(bundle.is_attempted);
	cr_assert_str_eq(bundle.verdict, "unavailable");
	cr_assert_str_eq(bundle.reason, "no such machine");
	cr_assert_str_eq(bundle.probes[0].state, "not_run");
	suite_fixture_fini(&fixture);
}

Test(suite_bundle, attempts_that_failed_have_a_diagnostic_and_no_observation)
{
	static const enum cm_counter_status statuses[] = {CM_COUNTER_UNAVAILABLE,
							  CM_COUNTER_BLOCKED, CM_COUNTER_FAILED};
	struct suite_fixture fixture;
	struct cm_bundle bundle;

	suite_fixture_init(&fixture, 1);
	for (size_t i = 0; i < 3; i++) {
		struct cm_worker_outcome outcome = suite_outcome(statuses[i]);

		cr_assert_eq(make(&fixture, &outcome, &bundle, NULL), 0);
		cr_assert(bundle.is_attempted && bundle.n_observations == 0);
		cr_assert_not(bundle.has_group_time);
		cr_assert_eq(bundle.last_output.n, 8);
		cr_assert_str_eq(bundle.step, "perf_workload");
	}
	suite_fixture_fini(&fixture);
}

/* One thing wrong with an outcome; the line must have `said`. */
static void expect_refused(struct cm_worker_outcome outcome, const char *said)
{
	struct suite_fixture fixture;
	struct cm_bundle bundle;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(make(&fixture, &outcome, &bundle, &diag), -EINVAL, "%s", said);
	cr_assert_not_null(strstr(diag.text, said), "%s", diag.text);
	cr_assert_not_null(strstr(diag.text, "row 1"), "%s", diag.text);
	suite_fixture_fini(&fixture);
}

Test(suite_bundle, complete_without_records_is_refused)
{
	struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);

	outcome.window.n_records = 0;
	expect_refused(outcome, "without records");
}

Test(suite_bundle, records_of_what_is_not_complete_are_refused)
{
	static const enum cm_counter_status statuses[] = {CM_COUNTER_UNAVAILABLE,
							  CM_COUNTER_BLOCKED, CM_COUNTER_FAILED};

	for (size_t i = 0; i < 3; i++) {
		struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_INVALID);

		outcome.status = statuses[i];
		expect_refused(outcome, "with records");
	}
}

Test(suite_bundle, values_that_are_no_amounts_are_refused)
{
	static const double bad[] = {-1, -0x1p-1074, NAN, INFINITY, -INFINITY};
	struct cm_counter_record records[2] = {{"A", "PMC0", 0, "1", 1}, {"B", "PMC1", 0, "1", 1}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);

		records[1].value = bad[i];
		outcome.window.records = records;
		outcome.window.n_records = 2;
		expect_refused(outcome, "negative or not finite");
		outcome = suite_outcome(CM_COUNTER_COMPLETE);
		outcome.window.group_time_seconds = bad[i];
		expect_refused(outcome, "negative or not finite");
	}
}

Test(suite_bundle, uuids_are_new_each_time)
{
	char a[CM_UUID_BYTES], b[CM_UUID_BYTES];

	cm_suite_uuid_make(a);
	cm_suite_uuid_make(b);
	cr_assert_eq(strlen(a), 36);
	cr_assert_eq(a[14], '4');
	cr_assert_str_neq(a, b);
}
