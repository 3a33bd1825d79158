/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of several files in one: writer/h5-merge-files.c. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/writer-fixture.h"
#include "writer/sibling.h"

struct setup {
	struct fixture fixture;
	char a[PATH_MAX], b[PATH_MAX], out[PATH_MAX];
	struct cm_writer_merge_options options;
	struct cm_diag diag;
	size_t n_ranks;
};

static void set_rank(struct fixture *fixture, int64_t rank, int64_t mpi_size, const char *run_id)
{
	fixture->profile.rank = rank;
	fixture->profile.mpi_size = mpi_size;
	fixture->profile.pid = 100 + rank;
	fixture->profile.run_id = run_id;
}

static void make(struct setup *setup, const char *path, int64_t rank, int64_t mpi_size,
		 const char *run_id)
{
	set_rank(&setup->fixture, rank, mpi_size, run_id);
	cr_assert_eq(fixture_write(&setup->fixture, path, CM_COMPRESS_DEFAULT, NULL), 0);
}

static void setup_init(struct setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	fixture_init(&setup->fixture, 2, 100);
	snprintf(setup->a, PATH_MAX, "%s/a.h5", setup->fixture.folder);
	snprintf(setup->b, PATH_MAX, "%s/b.h5", setup->fixture.folder);
	snprintf(setup->out, PATH_MAX, "%s/out.h5", setup->fixture.folder);
}

static int merge(struct setup *setup, const char *out, const char *first, const char *second)
{
	const char *files[] = {first, second};

	setup->diag = (struct cm_diag){0};
	return cm_writer_merge(out, files, second ? 2 : 1, &setup->options, &setup->n_ranks,
			       &setup->diag);
}

static struct cm_results *open_file(struct setup *setup, const char *path)
{
	struct cm_results *results;
	struct cm_diag diag = {0};

	(void)setup;
	cr_assert_eq(cm_results_open(&results, path, &diag), 0, "%s", diag.text);
	return results;
}

Test(merge, ranks_of_one_run_are_copied_and_the_missing_named)
{
	struct setup setup;
	struct cm_results *results;
	const int64_t *missing;
	size_t n;

	setup_init(&setup);
	make(&setup, setup.a, 2, 4, "r");
	make(&setup, setup.b, 0, 4, "r");
	cr_assert_eq(merge(&setup, setup.out, setup.a, setup.b), 0, "%s", setup.diag.text);
	cr_assert_eq(setup.n_ranks, 2u);
	unlink(setup.a);
	unlink(setup.b);
	results = open_file(&setup, setup.out);
	cr_assert_eq(cm_results_n_ranks(results), 2u);
	set_rank(&setup.fixture, 0, 4, "r");
	fixture_check_rank(&setup.fixture, results, 0);
	set_rank(&setup.fixture, 2, 4, "r");
	fixture_check_rank(&setup.fixture, results, 1);
	cr_assert_str_eq(cm_results_run_id(results), "r");
	cr_assert_eq(cm_results_mpi_size(results), 4);
	missing = cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 2u);
	cr_assert_eq(missing[0], 1);
	cr_assert_eq(missing[1], 3);
	cm_results_close(results);
	cr_assert_eq(fixture_count_files(&setup.fixture), 1);
	fixture_fini(&setup.fixture);
}

Test(merge, the_same_rank_twice_is_an_error_or_gets_a_new_number)
{
	struct setup setup;
	struct cm_results *results;
	size_t n;

	setup_init(&setup);
	make(&setup, setup.a, 0, 1, "r");
	make(&setup, setup.b, 0, 1, "s");
	cr_assert_eq(merge(&setup, setup.out, setup.a, setup.b), -EEXIST);
	cr_assert(strstr(setup.diag.text, "a.h5") && strstr(setup.diag.text, "b.h5") &&
			  strstr(setup.diag.text, "--renumber"),
		  "%s", setup.diag.text);
	cr_assert_neq(access(setup.out, F_OK), 0);
	setup.options.renumber = true;
	cr_assert_eq(merge(&setup, setup.out, setup.b, setup.a), 0, "%s", setup.diag.text);
	results = open_file(&setup, setup.out);
	cr_assert_eq(cm_results_n_ranks(results), 2u);
	cr_assert_eq(cm_results_rank(results, 1)->rank, 1);
	cr_assert_eq(cm_results_mpi_size(results), 2);
	cr_assert_str_eq(cm_results_run_id(results), "", "of several runs");
	(void)cm_results_missing_ranks(results, &n);
	cr_assert_eq(n, 0u);
	cm_results_close(results);
	fixture_fini(&setup.fixture);
}

Test(merge, links_lead_to_the_files_and_to_nowhere_else)
{
	struct setup setup;
	struct cm_results *results;
	char sub[PATH_MAX + 16];

	setup_init(&setup);
	setup.options.links = true;
	setup.options.renumber = true;
	make(&setup, setup.a, 0, 1, "r");
	make(&setup, setup.b, 0, 1, "s");
	cr_assert_eq(merge(&setup, setup.out, setup.a, setup.b), 0, "%s", setup.diag.text);
	results = open_file(&setup, setup.out);
	cr_assert_eq(cm_results_n_ranks(results), 2u, "rank1 is a link to another file's rank0");
	cm_results_close(results);
	unlink(setup.a);
	results = open_file(&setup, setup.out);
	cr_assert_eq(cm_results_n_ranks(results), 1u);
	cm_results_close(results);
	cr_assert_eq(merge(&setup, setup.out, setup.out, setup.b), -EINVAL, "to itself");
	snprintf(sub, sizeof(sub), "%s/sub", setup.fixture.folder);
	cr_assert_eq(mkdir(sub, 0700), 0);
	strcat(sub, "/out.h5");
	cr_assert_eq(merge(&setup, sub, setup.b, NULL), -EINVAL);
	cr_assert(strstr(setup.diag.text, "not below"), "%s", setup.diag.text);
	fixture_fini(&setup.fixture);
}

Test(merge, a_file_of_links_becomes_one_file_in_place)
{
	struct setup setup;
	struct cm_results *results;
	char shard[PATH_MAX];

	setup_init(&setup);
	for (int64_t rank = 0; rank < 3; rank++) {
		cr_assert_eq(cm_writer_shard_path(setup.out, "r", rank, 1, shard, sizeof(shard)),
			     0);
		make(&setup, shard, rank, 5, "r");
		/* The last one waits beside the file: nobody has linked it yet. */
		if (rank < 2)
			cr_assert_eq(cm_writer_join(shard, setup.out, "r", rank, 5, false, NULL),
				     0);
		else
			cr_assert_eq(cm_shards_place(shard, setup.out, "r", rank), 0);
	}
	cr_assert_eq(merge(&setup, setup.out, setup.out, NULL), 0, "%s", setup.diag.text);
	cr_assert_eq(setup.n_ranks, 3u);
	cr_assert_eq(fixture_count_files(&setup.fixture), 1, "the shards are not needed any more");
	results = open_file(&setup, setup.out);
	for (int64_t rank = 0; rank < 3; rank++) {
		set_rank(&setup.fixture, rank, 5, "r");
		fixture_check_rank(&setup.fixture, results, (size_t)rank);
	}
	cm_results_close(results);
	fixture_fini(&setup.fixture);
}

Test(merge, what_is_no_profile_is_named_and_stays)
{
	struct setup setup;
	FILE *file;

	setup_init(&setup);
	make(&setup, setup.a, 0, 1, "r");
	cr_assert_eq(merge(&setup, setup.out, setup.a, setup.b), -EINVAL);
	cr_assert(strstr(setup.diag.text, "b.h5: no such file"), "%s", setup.diag.text);
	file = fopen(setup.b, "w");
	fputs("my thesis\n", file);
	fclose(file);
	cr_assert_eq(merge(&setup, setup.out, setup.a, setup.b), -EINVAL);
	cr_assert(strstr(setup.diag.text, "b.h5: is not a profile"), "%s", setup.diag.text);
	cr_assert_eq(merge(&setup, setup.b, setup.a, NULL), -EEXIST);
	cr_assert(strstr(setup.diag.text, "stays as it is"), "%s", setup.diag.text);
	cr_assert_neq(access(setup.out, F_OK), 0, "complete or absent");
	cr_assert_eq(fixture_count_files(&setup.fixture), 2);
	fixture_fini(&setup.fixture);
}
