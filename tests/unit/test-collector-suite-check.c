/* SPDX-License-Identifier: BSD-3-Clause */
/* A suite's folder, held against what was written: whatever was changed is found. */
#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/suite-check.h"
#include "collector/suite-folder.h"
#include "collector/suite-run.h"
#include "tests/unit/suite-fixture.h"

#define N_ROWS 6

static void run(struct suite_fixture *fixture, size_t n_rows)
{
	struct cm_suite_run how = {.helper = "helper", .run_row = suite_run_row};
	struct cm_suite_tally tally;
	struct cm_diag diag = {0};

	suite_fixture_init(fixture, n_rows);
	cr_assert_eq(cm_suite_run(&how, &fixture->suite, fixture->path, &tally, &diag), 0, "%s",
		     diag.text);
}

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

Test(suite_check, what_was_written_verifies)
{
	struct suite_fixture fixture;
	struct cm_suite_check found;

	run(&fixture, N_ROWS);
	check(&found, &fixture);
	cr_assert_eq(found.n_findings, 0);
	cr_assert(found.is_complete);
	cr_assert_eq(found.n_files, 2 + 2 * N_ROWS);
	cr_assert_eq(found.n_found, N_ROWS);
	cr_assert_str_eq(found.verdict, "execution_failed");
	cr_assert_eq(found.tally.n_attempted, N_ROWS - 1);
	cm_suite_check_fini(&found);
	suite_fixture_fini(&fixture);
}

Test(suite_check, a_suite_without_rows_verifies)
{
	struct suite_fixture fixture;

	run(&fixture, 0);
	expect_sound(&fixture, true, 0);
	suite_fixture_fini(&fixture);
}

Test(suite_check, a_byte_of_any_file_is_found)
{
	static const char *const names[] = {"suite.json", "suite.h5", "rows/0001/row.h5",
					    "rows/0002/row.h5", "rows/0006/row.h5"};
	struct suite_fixture fixture;
	char path[PATH_MAX], byte;
	struct stat st;

	run(&fixture, N_ROWS);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int fd;

		name_path(path, sizeof(path), &fixture, names[i]);
		fd = open(path, O_RDWR | O_CLOEXEC);
		cr_assert_eq(fstat(fd, &st), 0);
		cr_assert_eq(pread(fd, &byte, 1, st.st_size - 1), 1);
		byte ^= 1;
		cr_assert_eq(pwrite(fd, &byte, 1, st.st_size - 1), 1);
		expect_finding(&fixture, names[i], "has another content", 2);
		byte ^= 1;
		cr_assert_eq(pwrite(fd, &byte, 1, st.st_size - 1), 1);
		expect_sound(&fixture, true, N_ROWS);
		cr_assert_eq(ftruncate(fd, st.st_size + 1), 0);
		expect_finding(&fixture, names[i], "has another size", 2);
		cr_assert_eq(ftruncate(fd, st.st_size), 0);
		close(fd);
	}
	suite_fixture_fini(&fixture);
}

Test(suite_check, missing_files_and_rows_are_found)
{
	static const char *const names[] = {"suite.json", "suite.h5",  "rows/0003/row.h5",
					    "rows/0003",  "rows/0006", "rows/0003/integrity.json"};
	struct suite_fixture fixture;
	char path[PATH_MAX], away[PATH_MAX];

	run(&fixture, N_ROWS);
	snprintf(away, sizeof(away), "%s/away", fixture.folder);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		name_path(path, sizeof(path), &fixture, names[i]);
		cr_assert_eq(rename(path, away), 0);
		expect_finding(&fixture, names[i], i == 5 ? "" : "missing", 2);
		cr_assert_eq(rename(away, path), 0);
	}
	expect_sound(&fixture, true, N_ROWS);
	suite_fixture_fini(&fixture);
}

Test(suite_check, files_that_do_not_belong_there_are_found)
{
	static const char *const names[] = {"notes.txt",
					    "rows/0001/core",
					    "rows/0007",
					    "rows/x",
					    "rows/0001/.row.h5.1-1.tmp",
					    "rows/.0007.tmp"};
	struct suite_fixture fixture;
	char path[PATH_MAX];

	run(&fixture, N_ROWS);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		suite_write_file(fixture.path, names[i], "", "w");
		expect_finding(&fixture, names[i], "does not belong here", 1);
		name_path(path, sizeof(path), &fixture, names[i]);
		cr_assert_eq(unlink(path), 0);
	}
	expect_sound(&fixture, true, N_ROWS);
	suite_fixture_fini(&fixture);
}

Test(suite_check, a_link_in_the_place_of_a_file_is_found)
{
	struct suite_fixture fixture;
	char path[PATH_MAX], other[PATH_MAX];

	run(&fixture, 1);
	name_path(path, sizeof(path), &fixture, "rows/0001/row.h5");
	snprintf(other, sizeof(other), "%s/elsewhere.h5", fixture.folder);
	cr_assert_eq(rename(path, other), 0);
	cr_assert_eq(symlink(other, path), 0);
	expect_finding(&fixture, "rows/0001/row.h5", "is no regular file", 2);
	suite_fixture_fini(&fixture);
}

/* Change one member of an integrity.json; sets it aside afterwards. */
static void change(const struct suite_fixture *fixture, const char *name, const char *key,
		   json_t *value)
{
	char path[PATH_MAX];
	json_t *root;

	name_path(path, sizeof(path), fixture, name);
	root = json_load_file(path, 0, NULL);
	cr_assert_not_null(root);
	cr_assert_eq(json_object_set_new(root, key, value), 0);
	cr_assert_eq(json_dump_file(root, path, 0), 0);
	json_decref(root);
}

static json_t *get(const struct suite_fixture *fixture, const char *name, const char *key)
{
	char path[PATH_MAX];
	json_t *root, *value;

	name_path(path, sizeof(path), fixture, name);
	root = json_load_file(path, 0, NULL);
	value = json_deep_copy(json_object_get(root, key));
	json_decref(root);
	cr_assert_not_null(value);
	return value;
}

Test(suite_check, each_member_of_integrity_json_is_held_against_the_rest)
{
	static const struct {
		const char *key, *value;
	} changes[] = {
		{"complete", "false"},
		{"run_id", "\"x\""},
		{"verdict", "\"validated\""},
		{"verdict", "\"\""},
		{"n_rows", "5"},
		{"n_rows", "7"},
		{"n_rows", "-1"},
		{"row", "1"},
		{"files", "[]"},
		{"files", "null"},
		{"complete", "1"},
		{"callmark_integrity", "2"},
		{"files", "[{\"path\": \"../x\", \"bytes\": 1, \"sha256\": \"\"}]"},
	};
	struct suite_fixture fixture;
	struct cm_suite_check found;

	run(&fixture, N_ROWS);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		json_t *before = get(&fixture, "integrity.json", changes[i].key);

		change(&fixture, "integrity.json", changes[i].key,
		       json_loads(changes[i].value, JSON_DECODE_ANY, NULL));
		check(&found, &fixture);
		cr_assert_gt(found.n_findings, 0, "%s %s", changes[i].key, changes[i].value);
		cm_suite_check_fini(&found);
		change(&fixture, "integrity.json", changes[i].key, before);
	}
	expect_sound(&fixture, true, N_ROWS);
	suite_fixture_fini(&fixture);
}

Test(suite_check, a_listed_file_less_or_more_is_found)
{
	struct suite_fixture fixture;
	json_t *files, *fewer;

	run(&fixture, N_ROWS);
	files = get(&fixture, "integrity.json", "files");
	for (size_t i = 0; i < json_array_size(files); i++) {
		struct cm_suite_check found;

		fewer = json_deep_copy(files);
		json_array_remove(fewer, i);
		change(&fixture, "integrity.json", "files", fewer);
		check(&found, &fixture);
		cr_assert_gt(found.n_findings, 0, "%zu", i);
		cm_suite_check_fini(&found);
		fewer = json_deep_copy(files);
		json_object_set_new(json_array_get(fewer, i), "path",
				    json_string("rows/0099/row.h5"));
		change(&fixture, "integrity.json", "files", fewer);
		check(&found, &fixture);
		cr_assert_gt(found.n_findings, 0, "%zu", i);
		cm_suite_check_fini(&found);
	}
	json_decref(files);
	suite_fixture_fini(&fixture);
}

Test(suite_check, garbage_for_integrity_json_is_one_finding)
{
	static const char *const texts[] = {"", "{", "[]", "{}", "null", "\xff"};
	struct suite_fixture fixture;
	char path[PATH_MAX];

	run(&fixture, 1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		suite_write_file(fixture.path, "integrity.json", texts[i], "w");
		expect_finding(&fixture, "integrity.json", "", 1);
	}
	name_path(path, sizeof(path), &fixture, "integrity.json");
	cr_assert_eq(unlink(path), 0);
	expect_finding(&fixture, "integrity.json", "No such file", 1);
	suite_fixture_fini(&fixture);
}

/* Whoever rewrites the hashes as well is still held to what the evidence says of itself. */
Test(suite_check, a_row_of_another_run_is_found_though_its_hashes_fit)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	struct cm_bundle bundle;
	struct cm_suite_about about = suite_about(0);
	struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);

	suite_fixture_init(&fixture, 1);
	about.run_id = SUITE_ATTEMPT_ID;
	cr_assert_eq(cm_suite_bundle_make(&bundle, &about, &fixture.rows[0], &outcome,
					  &fixture.suite.arena, NULL),
		     0);
	cr_assert_eq(
		cm_suite_folder_create(&folder, fixture.path, &fixture.suite, SUITE_RUN_ID, NULL),
		0);
	cr_assert_eq(cm_suite_folder_add(&folder, &bundle, NULL), 0);
	cr_assert_eq(cm_suite_folder_seal(&folder, "executed_with_warnings", NULL), 0);
	cm_suite_folder_fini(&folder);
	expect_finding(&fixture, "rows/0001/row.h5", "another run", 1);
	suite_fixture_fini(&fixture);
}

Test(suite_check, an_observation_that_is_not_what_its_id_says_is_found)
{
	struct suite_fixture fixture;
	struct cm_suite_folder folder;
	struct cm_bundle_observation observations[SUITE_N_RECORDS];
	struct cm_bundle bundle;
	struct cm_suite_about about = suite_about(0);
	struct cm_worker_outcome outcome = suite_outcome(CM_COUNTER_COMPLETE);

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(cm_suite_bundle_make(&bundle, &about, &fixture.rows[0], &outcome,
					  &fixture.suite.arena, NULL),
		     0);
	memcpy(observations, bundle.observations, sizeof(observations));
	observations[3].unit = "bytes";
	bundle.observations = observations;
	cr_assert_eq(
		cm_suite_folder_create(&folder, fixture.path, &fixture.suite, SUITE_RUN_ID, NULL),
		0);
	cr_assert_eq(cm_suite_folder_add(&folder, &bundle, NULL), 0);
	cr_assert_eq(cm_suite_folder_seal(&folder, "executed_with_warnings", NULL), 0);
	cm_suite_folder_fini(&folder);
	expect_finding(&fixture, "rows/0001/row.h5", "not of what its id says", 1);
	suite_fixture_fini(&fixture);
}
