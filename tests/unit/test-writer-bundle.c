/* SPDX-License-Identifier: BSD-3-Clause */
/* Evidence into a file and out of it again. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/suite-fixture.h"
#include "writer/bundle.h"

static void make(struct suite_fixture *fixture, enum cm_counter_status status,
		 struct cm_bundle *bundle, char *path, size_t n_bytes)
{
	static struct cm_worker_outcome outcome;
	struct cm_suite_about about = suite_about(0);
	struct cm_diag diag = {0};

	outcome = suite_outcome(status);
	suite_fixture_init(fixture, 1);
	snprintf(path, n_bytes, "%s/row.h5", fixture->folder);
	cr_assert_eq(cm_suite_bundle_make(bundle, &about, &fixture->rows[0], &outcome,
					  &fixture->suite.arena, &diag),
		     0, "%s", diag.text);
}

static void check_texts(struct cm_bundle_texts a, struct cm_bundle_texts b)
{
	cr_assert_eq(a.n, b.n);
	for (size_t i = 0; i < a.n; i++)
		cr_assert_str_eq(a.texts[i], b.texts[i]);
}

static void check_integers(struct cm_bundle_integers a, struct cm_bundle_integers b)
{
	cr_assert_eq(a.n, b.n);
	cr_assert(a.n == 0 || !memcmp(a.values, b.values, a.n * sizeof(*a.values)));
}

static void check_bytes(struct cm_bundle_bytes a, struct cm_bundle_bytes b)
{
	cr_assert_eq(a.n, b.n);
	cr_assert(a.n == 0 || !memcmp(a.bytes, b.bytes, a.n));
}

static void check_row(const struct cm_bundle *a, const struct cm_bundle *b)
{
	cr_assert_str_eq(a->suite, b->suite);
	cr_assert_str_eq(a->run_id, b->run_id);
	cr_assert_eq(a->row, b->row);
	cr_assert_str_eq(a->case_id, b->case_id);
	cr_assert_str_eq(a->target_id, b->target_id);
	cr_assert_str_eq(a->target_kind, b->target_kind);
	cr_assert_str_eq(a->target_version, b->target_version);
	cr_assert_str_eq(a->target_source, b->target_source);
	cr_assert_str_eq(a->host, b->host);
	cr_assert_str_eq(a->started, b->started);
	cr_assert_str_eq(a->event_set, b->event_set);
	check_integers(a->cpuids, b->cpuids);
	check_texts(a->units, b->units);
	check_texts(a->files, b->files);
	cr_assert_str_eq(a->worker, b->worker);
	cr_assert_str_eq(a->worker_sha256, b->worker_sha256);
	cr_assert_str_eq(a->oracle_function, b->oracle_function);
	cr_assert_eq(a->is_oracle_required, b->is_oracle_required);
	cr_assert_eq(a->timeout_s, b->timeout_s);
	cr_assert_str_eq(a->planned, b->planned);
}

static void check_qualification(const struct cm_bundle *a, const struct cm_bundle *b)
{
	cr_assert_str_eq(a->verdict, b->verdict);
	cr_assert_str_eq(a->status, b->status);
	cr_assert_str_eq(a->reason, b->reason);
	cr_assert_str_eq(a->detail, b->detail);
	cr_assert_str_eq(a->oracle, b->oracle);
	cr_assert_eq(a->n_warnings, b->n_warnings);
	cr_assert(a->elapsed_seconds == b->elapsed_seconds);
	cr_assert_str_eq(a->source_sha256, b->source_sha256);
	cr_assert_str_eq(a->target_sha256, b->target_sha256);
	cr_assert_str_eq(a->target_build_id, b->target_build_id);
	cr_assert_str_eq(a->target_soname, b->target_soname);
	cr_assert_str_eq(a->found_version, b->found_version);
	cr_assert_eq(a->n_probes, b->n_probes);
	for (size_t i = 0; i < a->n_probes; i++) {
		cr_assert_str_eq(a->probes[i].function, b->probes[i].function);
		cr_assert_str_eq(a->probes[i].state, b->probes[i].state);
		cr_assert_eq(a->probes[i].is_blocking, b->probes[i].is_blocking);
	}
}

static void check_evidence(const struct cm_bundle *a, const struct cm_bundle *b)
{
	cr_assert_eq(a->is_attempted, b->is_attempted);
	cr_assert_str_eq(a->attempt_id, b->attempt_id);
	cr_assert_str_eq(a->access_mode, b->access_mode);
	cr_assert_str_eq(a->cpu_name, b->cpu_name);
	cr_assert_str_eq(a->library, b->library);
	cr_assert_eq(a->has_group_time, b->has_group_time);
	cr_assert(a->group_time_seconds == b->group_time_seconds);
	cr_assert_eq(a->has_perf_pid, b->has_perf_pid);
	cr_assert_eq(a->perf_pid, b->perf_pid);
	check_integers(a->allowed_cpuids, b->allowed_cpuids);
	check_texts(a->backend_added_events, b->backend_added_events);
	check_texts(a->variables, b->variables);
	cr_assert_eq(a->n_observations, b->n_observations);
	for (size_t i = 0; i < a->n_observations; i++) {
		cr_assert_str_eq(a->observations[i].definition_id,
				 b->observations[i].definition_id);
		cr_assert_str_eq(a->observations[i].event, b->observations[i].event);
		cr_assert_str_eq(a->observations[i].counter, b->observations[i].counter);
		cr_assert_eq(a->observations[i].cpu_id, b->observations[i].cpu_id);
		cr_assert_str_eq(a->observations[i].unit, b->observations[i].unit);
		cr_assert_str_eq(a->observations[i].raw_value, b->observations[i].raw_value);
		cr_assert(a->observations[i].value == b->observations[i].value);
	}
	cr_assert_eq(a->pid, b->pid);
	cr_assert_eq(a->wait_status, b->wait_status);
	cr_assert_eq(a->is_timed_out, b->is_timed_out);
	cr_assert_str_eq(a->step, b->step);
	cr_assert_str_eq(a->folder, b->folder);
	check_texts(a->environment, b->environment);
	check_bytes(a->last_output, b->last_output);
	check_bytes(a->handed_over, b->handed_over);
}

Test(bundle, all_of_it_comes_back)
{
	struct suite_fixture fixture;
	struct cm_bundle_file *file;
	struct cm_diag diag = {0};
	struct cm_bundle bundle;
	char path[PATH_MAX];

	for (int i = 0; i <= CM_COUNTER_FAILED; i++) {
		make(&fixture, (enum cm_counter_status)i, &bundle, path, sizeof(path));
		cr_assert_eq(cm_bundle_write(path, &bundle, &diag), 0, "%s", diag.text);
		cr_assert_eq(cm_bundle_read(&file, path, &diag), 0, "%s", diag.text);
		check_row(&file->bundle, &bundle);
		check_qualification(&file->bundle, &bundle);
		check_evidence(&file->bundle, &bundle);
		cm_bundle_free(file);
		suite_fixture_fini(&fixture);
	}
}

Test(bundle, a_row_that_was_never_run_has_no_evidence)
{
	struct suite_fixture fixture;
	struct cm_suite_about about = suite_about(1);
	struct cm_bundle_file *file;
	struct cm_diag diag = {0};
	struct cm_bundle bundle;

	suite_fixture_init(&fixture, 2);
	cr_assert_eq(cm_suite_bundle_make(&bundle, &about, &fixture.rows[1], NULL,
					  &fixture.suite.arena, &diag),
		     0);
	cr_assert_eq(cm_bundle_write(fixture.path, &bundle, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_bundle_read(&file, fixture.path, &diag), 0, "%s", diag.text);
	check_row(&file->bundle, &bundle);
	check_qualification(&file->bundle, &bundle);
	cr_assert_not(file->bundle.is_attempted);
	cr_assert_str_eq(file->bundle.step, "");
	cm_bundle_free(file);
	suite_fixture_fini(&fixture);
}

Test(bundle, what_is_refused_leaves_no_file)
{
	struct suite_fixture fixture;
	struct cm_diag diag = {0};
	struct cm_bundle bundle;
	char path[PATH_MAX];

	make(&fixture, CM_COUNTER_COMPLETE, &bundle, path, sizeof(path));
	bundle.n_observations = 0;
	cr_assert_eq(cm_bundle_write(path, &bundle, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "without records"), "%s", diag.text);
	cr_assert_neq(access(path, F_OK), 0);
	suite_fixture_fini(&fixture);
}

Test(bundle, a_folder_that_is_not_there_is_said)
{
	struct suite_fixture fixture;
	struct cm_diag diag = {0};
	struct cm_bundle bundle;
	char path[PATH_MAX];

	make(&fixture, CM_COUNTER_COMPLETE, &bundle, path, sizeof(path));
	cr_assert_eq(cm_bundle_write("/nonexistent/row.h5", &bundle, &diag), -ENOENT);
	cr_assert_not_null(strstr(diag.text, "/nonexistent/row.h5"), "%s", diag.text);
	suite_fixture_fini(&fixture);
}

/* Every byte of a file, one after another, is damaged: read, or refused, never worse. */
Test(bundle, damaged_files_are_refused_or_read, .timeout = 100)
{
	struct suite_fixture fixture;
	struct cm_bundle_file *file;
	struct cm_bundle bundle;
	char path[PATH_MAX];
	size_t n_refused = 0;
	struct stat st;
	int fd;

	make(&fixture, CM_COUNTER_COMPLETE, &bundle, path, sizeof(path));
	cr_assert_eq(cm_bundle_write(path, &bundle, NULL), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 7) {
		unsigned char byte, other;

		cr_assert_eq(pread(fd, &byte, 1, at), 1);
		other = byte ^ 0xff;
		cr_assert_eq(pwrite(fd, &other, 1, at), 1);
		if (cm_bundle_read(&file, path, NULL) == 0)
			cm_bundle_free(file);
		else
			n_refused++;
		cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	}
	cr_assert_gt(n_refused, 100);
	cr_assert_eq(cm_bundle_read(&file, path, NULL), 0);
	cm_bundle_free(file);
	for (off_t n = 0; n < st.st_size; n += st.st_size / 40) {
		cr_assert_eq(ftruncate(fd, n), 0);
		cr_assert_lt(cm_bundle_read(&file, path, NULL), 0);
		cr_assert_eq(cm_bundle_write(path, &bundle, NULL), 0);
		close(fd);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	close(fd);
	suite_fixture_fini(&fixture);
}

Test(bundle, a_profile_or_a_text_is_no_evidence)
{
	struct suite_fixture fixture;
	struct cm_bundle_file *file;
	struct cm_diag diag = {0};

	suite_fixture_init(&fixture, 1);
	cr_assert_eq(cm_bundle_write_suite(fixture.path, "a suite", SUITE_RUN_ID, NULL, 0, &diag),
		     0);
	cr_assert_eq(cm_bundle_read(&file, fixture.path, &diag), -EINVAL);
	cr_assert_not_null(strstr(diag.text, "is not the evidence of a row"), "%s", diag.text);
	suite_write_file(fixture.folder, "out", "text\n", "w");
	cr_assert_eq(cm_bundle_read(&file, fixture.path, NULL), -EINVAL);
	suite_fixture_fini(&fixture);
}
