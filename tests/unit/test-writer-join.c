/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of one run end up in one file, whatever their order: writer/join.c. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/writer-fixture.h"
#include "writer/shard-state.h"
#include "writer/sibling.h"

#define N_RANKS 4

static bool keep_links; /* --shards */

static void set_rank(struct fixture *fixture, int64_t rank, int64_t mpi_size, const char *run_id)
{
	fixture->profile.rank = rank;
	fixture->profile.mpi_size = mpi_size;
	fixture->profile.pid = 100 + rank;
	fixture->profile.run_id = run_id;
}

/* Write a rank's shard and join it, as the collector does. */
static int join(struct fixture *fixture, int64_t rank, int64_t mpi_size, const char *run_id,
		struct cm_diag *diag)
{
	char shard[PATH_MAX];
	int rc;

	set_rank(fixture, rank, mpi_size, run_id);
	cr_assert_eq(
		cm_writer_shard_path(fixture->path, run_id, rank, getpid(), shard, sizeof(shard)),
		0);
	cr_assert_eq(fixture_write(fixture, shard, CM_COMPRESS_DEFAULT, diag), 0);
	rc = cm_writer_join(shard, fixture->path, run_id, rank, mpi_size, keep_links, diag);
	cr_assert_eq(access(shard, F_OK) == 0, rc < 0, "the shard is there after a failure only");
	if (rc < 0)
		unlink(shard);
	return rc;
}

/* All ranks below n, but `missing`, are in the file. */
static void check(struct fixture *fixture, int64_t n, int64_t missing, int64_t mpi_size,
		  const char *run_id)
{
	struct cm_results *results;
	struct cm_diag diag = {0};
	size_t idx = 0;

	cr_assert_eq(cm_results_open(&results, fixture->path, &diag), 0, "%s", diag.text);
	cr_assert_str_eq(cm_results_run_id(results), run_id);
	for (int64_t rank = 0; rank < n; rank++) {
		if (rank == missing)
			continue;
		set_rank(fixture, rank, mpi_size, run_id);
		fixture_check_rank(fixture, results, idx++);
	}
	cr_assert_eq(cm_results_n_ranks(results), idx);
	cr_assert_eq(cm_results_mpi_size(results), mpi_size);
	cm_results_close(results);
}

static void next_permutation(int *order, int n, int number)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = number % (i + 1), t = order[i];

		number /= i + 1;
		order[i] = order[k];
		order[k] = t;
	}
}

Test(join, four_ranks_in_every_order, .timeout = 120)
{
	struct fixture fixture;
	char run_id[16];

	fixture_init(&fixture, 2, 300);
	for (int p = 0; p < 24; p++) {
		int order[N_RANKS];

		next_permutation(order, N_RANKS, p);
		snprintf(run_id, sizeof(run_id), "run %d", p); /* replaces the one before */
		for (int i = 0; i < N_RANKS; i++) {
			struct cm_diag diag = {0};

			cr_assert_eq(join(&fixture, order[i], N_RANKS, run_id, &diag), 0, "%s",
				     diag.text);
		}
		check(&fixture, N_RANKS, -1, N_RANKS, run_id);
		cr_assert_eq(fixture_count_files(&fixture), 1, "no shard, lock or folder is left");
	}
	fixture_fini(&fixture);
}

Test(join, sixteen_processes_at_the_same_time, .timeout = 120)
{
	struct fixture fixture;
	int go[2];

	fixture_init(&fixture, 2, 300);
	for (int round = 0; round < 5; round++) {
		const char *run_id = round % 2 ? "odd" : "even";
		int status, n_good = 0;

		cr_assert_eq(pipe(go), 0);
		for (int rank = 0; rank < 16; rank++) {
			char c;

			if (fork() == 0) {
				close(go[1]);
				(void)!read(go[0], &c, 1);
				_exit(join(&fixture, rank, 16, run_id, NULL) == 0 ? 0 : 1);
			}
		}
		close(go[0]);
		close(go[1]); /* all start now */
		while (wait(&status) > 0)
			n_good += status == 0;
		cr_assert_eq(n_good, 16);
		check(&fixture, 16, -1, 16, run_id);
		cr_assert_eq(fixture_count_files(&fixture), 1);
	}
	fixture_fini(&fixture);
}

Test(join, the_file_can_be_read_before_all_ranks_have_come)
{
	struct fixture fixture;
	struct cm_results *results;
	const int64_t *missing;
	size_t n;

	fixture_init(&fixture, 2, 300);
	cr_assert_eq(join(&fixture, 0, 3, "r", NULL), 0);
	cr_assert_eq(join(&fixture, 2, 3, "r", NULL), 0);
	check(&fixture, 3, 1, 3, "r");
	cr_assert_eq(cm_results_open(&results, fixture.path, NULL), 0);
	missing = cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 1);
	cr_assert_eq(missing[0], 1);
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(join, finish_copies_what_has_come_and_names_the_missing)
{
	struct fixture fixture;
	struct cm_results *results;
	const int64_t *missing;
	size_t n;

	fixture_init(&fixture, 2, 300);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), -ENOENT);
	for (int64_t rank = 0; rank < 4; rank++)
		if (rank != 2)
			cr_assert_eq(join(&fixture, rank, 6, "r", NULL), 0);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), 0);
	cr_assert_eq(fixture_count_files(&fixture), 1);
	check(&fixture, 4, 2, 6, "r");
	cr_assert_eq(cm_results_open(&results, fixture.path, NULL), 0);
	missing = cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 3);
	cr_assert_eq(missing[0], 2);
	cr_assert_eq(missing[2], 5);
	cm_results_close(results);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), 0, "again is no harm");
	fixture_fini(&fixture);
}

Test(join, a_rank_that_comes_late_joins_a_finished_file)
{
	struct fixture fixture;

	fixture_init(&fixture, 2, 300);
	cr_assert_eq(join(&fixture, 0, 3, "r", NULL), 0);
	cr_assert_eq(join(&fixture, 1, 3, "r", NULL), 0);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), 0);
	cr_assert_eq(join(&fixture, 2, 3, "r", NULL), 0);
	check(&fixture, 3, -1, 3, "r");
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

Test(join, ranks_of_an_unknown_number_wait_for_finish)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 0, 0, "r", NULL), 0);
	cr_assert_eq(join(&fixture, 1, 0, "r", NULL), 0);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), 0);
	cr_assert_eq(fixture_count_files(&fixture), 1);
	check(&fixture, 2, -1, 1, "r"); /* no mpi_size in it: 1 */
	fixture_fini(&fixture);
}

Test(join, the_same_rank_twice_is_refused)
{
	struct fixture fixture;
	struct cm_diag diag = {0};

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 1, 2, "r", NULL), 0);
	cr_assert_eq(join(&fixture, 1, 2, "r", &diag), -EEXIST);
	cr_assert(strstr(diag.text, "rank 1"), "%s", diag.text);
	cr_assert_eq(join(&fixture, 0, 2, "r", NULL), 0);
	cr_assert_eq(join(&fixture, 1, 2, "r", NULL), -EEXIST, "also once it is copied");
	check(&fixture, 2, -1, 2, "r");
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

Test(join, a_serial_run_replaces_the_one_before)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 0, 1, "first", NULL), 0);
	check(&fixture, 1, -1, 1, "first");
	cr_assert_eq(join(&fixture, 0, 1, "second", NULL), 0);
	check(&fixture, 1, -1, 1, "second");
	cr_assert_eq(join(&fixture, 0, 1, "second", NULL), -EEXIST);
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

Test(join, an_unfinished_run_is_replaced_with_its_shards)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 0, 4, "killed", NULL), 0);
	cr_assert_gt(fixture_count_files(&fixture), 1);
	cr_assert_eq(join(&fixture, 0, 1, "next", NULL), 0);
	cr_assert_eq(fixture_count_files(&fixture), 1);
	check(&fixture, 1, -1, 1, "next");
	fixture_fini(&fixture);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert(file);
	fputs(text, file);
	fclose(file);
}

Test(join, what_is_no_profile_is_never_replaced)
{
	struct fixture fixture;
	struct cm_diag diag = {0};
	char text[32] = "";
	FILE *file;

	fixture_init(&fixture, 1, 10);
	write_text(fixture.path, "my thesis\n");
	cr_assert_eq(join(&fixture, 0, 1, "r", &diag), -EEXIST);
	cr_assert(strstr(diag.text, "not a profile"), "%s", diag.text);
	cr_assert_eq(join(&fixture, 0, 2, "r", NULL), -EEXIST);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), -EEXIST);
	file = fopen(fixture.path, "r");
	cr_assert(fgets(text, sizeof(text), file));
	fclose(file);
	cr_assert_str_eq(text, "my thesis\n");
	cr_assert_eq(fixture_count_files(&fixture), 1);
	write_text(fixture.path, ""); /* mktemp */
	cr_assert_eq(join(&fixture, 0, 1, "r", NULL), 0);
	fixture_fini(&fixture);
}

Test(join, a_rank_whose_file_is_gone_is_missing)
{
	struct fixture fixture;
	struct cm_results *results;
	const int64_t *missing;
	char command[2 * PATH_MAX];
	size_t n;

	fixture_init(&fixture, 1, 10);
	for (int64_t rank = 0; rank < 3; rank++)
		cr_assert_eq(join(&fixture, rank, 4, "r", NULL), 0);
	snprintf(command, sizeof(command), "rm %s/.profiling_data.h5.shards/*/rank1.h5",
		 fixture.folder);
	cr_assert_eq(system(command), 0);
	cr_assert_eq(cm_results_open(&results, fixture.path, NULL), 0);
	cr_assert_eq(cm_results_n_ranks(results), 2);
	missing = cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 2);
	cr_assert_eq(missing[0], 1);
	cr_assert_eq(missing[1], 3);
	cm_results_close(results);
	fixture_fini(&fixture);
}

Test(join, a_file_named_without_a_folder)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(chdir(fixture.folder), 0);
	strcpy(fixture.path, "out.h5");
	for (int64_t rank = 0; rank < 2; rank++)
		cr_assert_eq(join(&fixture, rank, 2, "r", NULL), 0);
	check(&fixture, 2, -1, 2, "r");
	cr_assert_eq(join(&fixture, 0, 3, "s", NULL), 0);
	cr_assert_eq(chdir("/"), 0);
	snprintf(fixture.path, sizeof(fixture.path), "%s/out.h5", fixture.folder);
	check(&fixture, 1, -1, 3, "s"); /* links are relative to the file, not to the process */
	fixture_fini(&fixture);
}

/* Is this rank a link in the file? */
static bool is_link(const struct fixture *fixture, const char *rank)
{
	char command[2 * PATH_MAX];

	snprintf(command, sizeof(command),
		 "/usr/bin/python3 -c \"import h5py, sys; sys.exit(type(h5py.File('%s').get('%s', "
		 "getlink=True)).__name__ != 'ExternalLink')\"",
		 fixture->path, rank);
	return system(command) == 0;
}

Test(join, asked_for_links_ranks_stay_in_their_files)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	for (int64_t rank = 0; rank < 3; rank++) {
		keep_links = rank == 1; /* any of them */
		cr_assert_eq(join(&fixture, rank, 3, "r", NULL), 0);
	}
	keep_links = false;
	cr_assert(is_link(&fixture, "rank0"));
	cr_assert_eq(cm_writer_finish(fixture.path, "r", false, NULL), 0);
	cr_assert(is_link(&fixture, "rank2"), "nor does the end copy them");
	check(&fixture, 3, -1, 3, "r");
	fixture_fini(&fixture);
}

Test(join, what_was_copied_is_not_copied_again_for_one_more_rank)
{
	struct fixture fixture;
	struct cm_shard_state state;

	fixture_init(&fixture, 1, 10);
	for (int64_t rank = 0; rank < 9; rank++)
		cr_assert_eq(join(&fixture, rank, 20, "r", NULL), 0);
	cr_assert_eq(cm_writer_finish(fixture.path, "r", true, NULL), 0);
	cr_assert_eq(fixture_count_files(&fixture), 1, "a node has ended: one file");
	for (int64_t rank = 9; rank < 12; rank++) {
		cr_assert_eq(join(&fixture, rank, 20, "r", NULL), 0);
		cr_assert_eq(cm_writer_finish(fixture.path, "r", true, NULL), 0);
		cr_assert_eq(join(&fixture, 3, 20, "r", NULL), -EEXIST, "one of the copied");
		check(&fixture, rank + 1, -1, 20, "r");
	}
	cr_assert(is_link(&fixture, "rank3"));
	cr_assert_eq(cm_shard_state_read(fixture.path, "r", &state), 0);
	cr_assert_eq(state.n_copied, 9);
	cr_assert_eq(state.n_joined, 12);
	for (int64_t rank = 12; rank < 20; rank++)
		cr_assert_eq(join(&fixture, rank, 20, "r", NULL), 0);
	cr_assert_not(is_link(&fixture, "rank3"), "all are there");
	check(&fixture, 20, -1, 20, "r");
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

Test(join, many_ranks_do_not_each_write_the_file, .timeout = 120)
{
	struct fixture fixture;
	struct cm_shard_state state;
	int64_t n_last = 0, n_written = 0;

	fixture_init(&fixture, 1, 1);
	for (int64_t rank = 0; rank < 300; rank++) {
		cr_assert_eq(join(&fixture, rank, 301, "r", NULL), 0);
		cr_assert_eq(cm_shard_state_read(fixture.path, "r", &state), 0);
		cr_assert_eq(state.n_joined, rank + 1);
		n_written += state.n_linked != n_last;
		n_last = state.n_linked;
	}
	/* 64, and then each time an eighth more, up to 295, where the end is near. */
	cr_assert_lt(n_written, 64 + 15);
	cr_assert_lt(n_last, 300);
	check(&fixture, 300, -1, 301, "r"); /* those that are not in the file yet are found */
	cr_assert_eq(join(&fixture, 300, 301, "r", NULL), 0);
	cr_assert_eq(cm_shard_state_read(fixture.path, "r", &state), 0);
	cr_assert_eq(state.n_linked, 301);
	cr_assert(is_link(&fixture, "rank300"), "too many to be copied");
	fixture_fini(&fixture);
}

Test(join, a_damaged_state_is_made_anew)
{
	struct fixture fixture;
	char path[PATH_MAX];

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 0, 4, "r", NULL), 0);
	cr_assert_eq(cm_shards_sibling(fixture.path, "r", CM_SHARDS_STATE, path, sizeof(path)), 0);
	write_text(path, "1 2 3");
	cr_assert_eq(join(&fixture, 1, 4, "r", NULL), 0);
	write_text(path, "1 900 900 900 0 4 0 1 1 1 1 end\n"); /* of another file */
	cr_assert_eq(join(&fixture, 2, 4, "r", NULL), 0);
	check(&fixture, 3, -1, 4, "r");
	cr_assert_eq(join(&fixture, 3, 4, "r", NULL), 0);
	check(&fixture, 4, -1, 4, "r");
	cr_assert_eq(fixture_count_files(&fixture), 1);
	fixture_fini(&fixture);
}

Test(join, what_takes_the_place_of_the_file_is_not_replaced_unseen)
{
	struct fixture fixture;

	fixture_init(&fixture, 1, 10);
	cr_assert_eq(join(&fixture, 0, 4, "r", NULL), 0);
	cr_assert_eq(unlink(fixture.path), 0);
	write_text(fixture.path, "my thesis\n");
	cr_assert_eq(join(&fixture, 1, 4, "r", NULL), -EEXIST);
	cr_assert_eq(unlink(fixture.path), 0);
	cr_assert_eq(join(&fixture, 1, 4, "r", NULL), 0);
	check(&fixture, 2, -1, 4, "r");
	fixture_fini(&fixture);
}
