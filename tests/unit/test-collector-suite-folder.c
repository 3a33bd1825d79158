/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite's folder, written row by row: what a killed run leaves, and what is refused. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/suite-check.h"
#include "collector/suite-folder.h"
#include "tests/unit/suite-fixture.h"

#define N_ROWS 6

static void check(struct cm_suite_check *ret_check, const struct suite_fixture *fixture)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_suite_check(ret_check, fixture->path, &diag), 0, "%s", diag.text);
}

static bool has_finding(const struct cm_suite_check *check, const char *path, const char *what)
{
	for (size_t i = 0; i < check->n_findings; i++)
		if (!strcmp(check->findings[i].path, path) && strstr(check->findings[i].what, what))
			return true;
	return false;
}

/* The check finds this, and no more than n_findings things. */
static void expect_finding(const struct suite_fixture *fixture, const char *path, const char *what,
			   size_t n_findings)
{
	struct cm_suite_check found;

	check(&found, fixture);
	for (size_t i = 0; i < found.n_findings; i++)
		fprintf(stderr, "%s: %s\n", found.findings[i].path, found.findings[i].what);
	cr_assert(has_finding(&found, path, what), "not found: %s: %s", path, what);
	cr_assert_leq(found.n_findings, n_findings);
	cm_suite_check_fini(&found);
}

static void expect_sound(const struct suite_fixture *fixture, bool is_complete, size_t n_found)
{
	struct cm_suite_check found;

	check(&found, fixture);
	cr_assert_eq(found.n_findings, 0, "%s: %s", found.findings[0].path, found.findings[0].what);
	cr_assert_eq(found.is_complete, is_complete);
	cr_assert_eq(found.n_found, n_found);
	cm_suite_check_fini(&found);
}

static void name_path(char *buf, size_t n_bytes, const struct suite_fixture *fixture,
		      const char *name)
{
	snprintf(buf, n_bytes, "%s/%s", fixture->path, name);
}

static void add_rows(struct suite_fixture *fixture, struct cm_suite_folder *folder, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_FAILED);
		struct cm_suite_about about = suite_about(i);
		struct cm_bundle bundle;

		fixture->rows[i].planned = NULL;
		cr_assert_eq(cm_suite_bundle_make(&bundle, &about, &fixture->rows[i], &outcome,
						  &fixture->suite.arena, NULL),
			     0);
		cr_assert_eq(cm_suite_folder_add(folder, &bundle, NULL), 0);
	}
}

/* As if the run had been killed after so many rows. */
Test(suite_folder, the_rows_of_a_killed_run_verify_and_the_others_are_absent)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	struct cm_suite_check found;
	char path[PATH_MAX];

	for (size_t n = 0; n <= N_ROWS; n++) {
		suite_fixture_init(&fixture, N_ROWS);
		cr_assert_eq(cm_suite_folder_create(&folder, fixture.path, &fixture.suite,
						    SUITE_RUN_ID, NULL),
			     0);
		add_rows(&fixture, &folder, n);
		cm_suite_folder_fini(&folder);
		expect_sound(&fixture, false, n);
		name_path(path, sizeof(path), &fixture, "rows/.0003.tmp");
		cr_assert_eq(mkdir(path, 0700), 0);
		check(&found, &fixture);
		/* Only the next row can have been interrupted. */
		cr_assert_eq(found.leftover != NULL, n == 2);
		cr_assert_eq(found.n_findings, n == 2 ? 0 : 1);
		cm_suite_check_fini(&found);
		suite_fixture_fini(&fixture);
	}
}

Test(suite_folder, a_row_missing_before_the_last_of_a_killed_run_is_found)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	char path[PATH_MAX], away[PATH_MAX];

	suite_fixture_init(&fixture, N_ROWS);
	cr_assert_eq(
		cm_suite_folder_create(&folder, fixture.path, &fixture.suite, SUITE_RUN_ID, NULL),
		0);
	add_rows(&fixture, &folder, 3);
	cm_suite_folder_fini(&folder);
	name_path(path, sizeof(path), &fixture, "rows/0002");
	snprintf(away, sizeof(away), "%s/away", fixture.folder);
	cr_assert_eq(rename(path, away), 0);
	expect_finding(&fixture, "rows/0002", "missing", 1);
	cr_assert_eq(rename(away, path), 0);
	suite_write_file(fixture.path, "rows/0002/row.h5", "x", "a");
	expect_finding(&fixture, "rows/0002/row.h5", "has another size", 1);
	suite_fixture_fini(&fixture);
}

Test(suite_folder, an_existing_destination_is_refused_whatever_it_is)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(mkdir(fixture.path, 0700), 0);
	cr_assert_eq(
		cm_suite_folder_create(&folder, fixture.path, &fixture.suite, SUITE_RUN_ID, &diag),
		-EEXIST);
	cm_suite_folder_fini(&folder);
	cr_assert_not_null(strstr(diag.text, "is there already"), "%s", diag.text);
	cr_assert_eq(rmdir(fixture.path), 0);
	cr_assert_eq(symlink("/nonexistent", fixture.path), 0);
	cr_assert_eq(
		cm_suite_folder_create(&folder, fixture.path, &fixture.suite, SUITE_RUN_ID, NULL),
		-EEXIST);
	cm_suite_folder_fini(&folder);
	suite_fixture_fini(&fixture);
}

Test(suite_folder, slashes_at_the_end_of_the_name_do_not_matter)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	char path[PATH_MAX];

	suite_fixture_init(&fixture, 0);
	snprintf(path, sizeof(path), "%s///", fixture.path);
	cr_assert_eq(cm_suite_folder_create(&folder, path, &fixture.suite, SUITE_RUN_ID, NULL), 0);
	cm_suite_folder_fini(&folder);
	expect_sound(&fixture, false, 0);
	suite_fixture_fini(&fixture);
}

Test(suite_folder, what_is_no_folder_of_a_suite_is_said)
{
	struct suite_fixture fixture;
	struct cm_suite_check found;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, 0);
	cr_assert_eq(cm_suite_check(&found, fixture.path, &diag), -ENOENT);
	cm_suite_check_fini(&found);
	suite_write_file(fixture.folder, "out", "", "w");
	cr_assert_eq(cm_suite_check(&found, fixture.path, NULL), -ENOTDIR);
	cm_suite_check_fini(&found);
	cr_assert_eq(unlink(fixture.path), 0);
	cr_assert_eq(mkdir(fixture.path, 0700), 0);
	expect_finding(&fixture, "integrity.json", "No such file", 1);
	suite_fixture_fini(&fixture);
}
