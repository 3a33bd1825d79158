/* SPDX-License-Identifier: BSD-3-Clause */
/* A disk that fills up anywhere leaves the old file, or nothing, and a clear error. */
#include <criterion/criterion.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/writer-fixture.h"

static char folder[] = "/tmp/callmark-full-XXXXXX";

/* A small tmpfs in a mount namespace of our own; false where we may not. */
static bool mount_small(size_t n_bytes)
{
	char options[64];

	cr_assert(mkdtemp(folder));
	snprintf(options, sizeof(options), "size=%zu", n_bytes);
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("callmark", folder, "tmpfs", 0, options) == 0)
		return true;
	rmdir(folder);
	return false;
}

static void unmount(void)
{
	cr_assert_eq(umount(folder), 0);
	rmdir(folder);
}

static void check_sizes(struct fixture *fixture, enum cm_compress compress, uint64_t n_max)
{
	bool was_full = false, was_good = false;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/out.h5", folder);
	snprintf(fixture->folder, sizeof(fixture->folder), "%s", folder);
	for (uint64_t n_rows = 0; n_rows <= n_max; n_rows += n_max / 40) {
		struct cm_diag diag = {0};
		int rc;

		for (size_t i = 0; i < fixture->profile.n_regions; i++)
			fixture->regions[i].n_trace = n_rows;
		rc = fixture_write(fixture, path, compress, &diag);
		cr_assert(rc == 0 || rc == -ENOSPC, "%d: %s", rc, diag.text);
		cr_assert_eq(access(path, F_OK) == 0, rc == 0);
		cr_assert_eq(fixture_count_files(fixture), rc == 0);
		cr_assert(rc == 0 || strstr(diag.text, "No space"), "%s", diag.text);
		unlink(path);
		was_full |= rc != 0;
		was_good |= rc == 0;
	}
	cr_assert(was_full && was_good, "the disk has the wrong size for this test");
}

Test(full_disk, nothing_half_is_left, .timeout = 120)
{
	struct fixture fixture;

	if (!mount_small(1 << 20))
		cr_skip_test("needs root to mount a small tmpfs");
	fixture_init(&fixture, 3, 0);
	rmdir(fixture.folder);
	check_sizes(&fixture, CM_COMPRESS_NONE, 40000);
	check_sizes(&fixture, CM_COMPRESS_FAST, 400000);
	fixture_free(&fixture);
	unmount();
}

/* So small that HDF5's own metadata meet the end, at any of their writes. */
Test(full_disk, metadata_alone_can_be_too_much, .timeout = 120)
{
	struct fixture fixture;
	size_t n_good = 0, n_full = 0;
	char path[PATH_MAX];

	if (!mount_small(256 << 10))
		cr_skip_test("needs root to mount a small tmpfs");
	fixture_init(&fixture, 200, 0);
	rmdir(fixture.folder);
	snprintf(fixture.folder, sizeof(fixture.folder), "%s", folder);
	snprintf(path, sizeof(path), "%s/out.h5", folder);
	for (size_t n = 1; n <= 200; n += 3) {
		int rc;

		fixture.profile.n_regions = n;
		rc = fixture_write(&fixture, path, CM_COMPRESS_NONE, NULL);
		cr_assert(rc == 0 || rc == -ENOSPC, "%d", rc);
		cr_assert_eq(fixture_count_files(&fixture), rc == 0);
		unlink(path);
		n_good += rc == 0;
		n_full += rc != 0;
	}
	cr_assert(n_good && n_full);
	fixture_free(&fixture);
	unmount();
}

Test(full_disk, the_file_before_survives)
{
	struct fixture fixture;
	struct cm_results *results;
	char path[PATH_MAX];

	if (!mount_small(1 << 20))
		cr_skip_test("needs root to mount a small tmpfs");
	fixture_init(&fixture, 1, 100);
	snprintf(path, sizeof(path), "%s/out.h5", folder);
	cr_assert_eq(fixture_write(&fixture, path, CM_COMPRESS_NONE, NULL), 0);
	fixture.regions[0].n_trace = 100000;
	cr_assert_eq(fixture_write(&fixture, path, CM_COMPRESS_NONE, NULL), -ENOSPC);
	fixture.regions[0].n_trace = 100;
	cr_assert_eq(cm_results_open(&results, path, NULL), 0);
	fixture_check_rank(&fixture, results, 0);
	cm_results_close(results);
	unmount();
	fixture_fini(&fixture);
}

Test(full_disk, ranks_that_cannot_be_copied_stay_linked)
{
	struct fixture fixture;
	struct cm_results *results;
	char path[PATH_MAX], shard[PATH_MAX];

	if (!mount_small(1 << 20))
		cr_skip_test("needs root to mount a small tmpfs");
	fixture_init(&fixture, 1, 20000); /* 340 KiB a rank: two fit, their copy does not */
	snprintf(path, sizeof(path), "%s/out.h5", folder);
	fixture.profile.mpi_size = 2;
	for (int64_t rank = 0; rank < 2; rank++) {
		struct cm_diag diag = {0};

		fixture.profile.rank = rank;
		cr_assert_eq(cm_writer_shard_path(path, "run-1", rank, 1, shard, sizeof(shard)), 0);
		cr_assert_eq(fixture_write(&fixture, shard, CM_COMPRESS_NONE, &diag), 0, "%s",
			     diag.text);
		cr_assert_eq(cm_writer_join(shard, path, "run-1", rank, 2, false, &diag), 0, "%s",
			     diag.text);
	}
	cr_assert_eq(cm_results_open(&results, path, NULL), 0);
	cr_assert_eq(cm_results_n_ranks(results), 2);
	fixture_check_rank(&fixture, results, 1);
	cm_results_close(results);
	unmount();
	fixture_fini(&fixture);
}

Test(full_disk, a_file_size_limit_is_an_error_too)
{
	struct rlimit limit = {100000, 100000};
	struct fixture fixture;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 100000);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(fixture_write(&fixture, fixture.path, CM_COMPRESS_NONE, &diag), -EFBIG, "%s",
		     diag.text);
	cr_assert_eq(fixture_count_files(&fixture), 0);
	fixture_fini(&fixture);
}

Test(full_disk, a_folder_that_is_not_there_is_a_clear_error)
{
	struct fixture fixture;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 1);
	cr_assert_eq(fixture_write(&fixture, "/nonexistent/out.h5", CM_COMPRESS_NONE, &diag),
		     -ENOENT);
	cr_assert(strstr(diag.text, "/nonexistent/out.h5"), "%s", diag.text);
	cr_assert_eq(fixture_write(&fixture, fixture.folder, CM_COMPRESS_NONE, NULL), -EISDIR);
	fixture_fini(&fixture);
}
