/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/collect-spool.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/spool-maker.h"
#include "writer/results.h"

#define DEAD_PID UINT64_C(4194305) /* above every pid_max */

static char tempdir[64];
static char run_path[128];
static char out_path[128];
static unsigned int n_complaints;
static char complaint[CM_DIAG_BYTES];

static void setup(void)
{
	char user[96];

	spool_maker_tempdir(tempdir, sizeof(tempdir));
	snprintf(user, sizeof(user), "%s/callmark-%u", tempdir, geteuid());
	snprintf(run_path, sizeof(run_path), "%s/run-1", user);
	snprintf(out_path, sizeof(out_path), "%s/out.h5", tempdir);
	cr_assert_eq(mkdir(user, 0700), 0);
	cr_assert_eq(mkdir(run_path, 0700), 0);
	n_complaints = 0;
}

static void teardown(void)
{
	spool_maker_remove(tempdir);
}

TestSuite(collect_spool, .init = setup, .fini = teardown);

static void complain(const struct cm_diag *diag, const char *path)
{
	n_complaints++;
	snprintf(complaint, sizeof(complaint), "%.150s: %.300s", path, diag->text);
}

struct made {
	uint64_t pid;
	uint64_t start;
	uint64_t main_pid;
	const char *env;
	const char *env2;
	uint64_t n_calls;
	char path[192];
};

/* The spool of one process with n_calls calls, 100 ns each. */
static void make(struct made *made)
{
	struct spool_words words = {0};
	struct spool_maker maker;

	snprintf(made->path, sizeof(made->path), "%s/%lu-%lx", run_path, (unsigned long)made->pid,
		 (unsigned long)made->start);
	spool_maker_init(&maker, made->path, CM_CLOCK_MONOTONIC);
	maker.head.pid = made->pid;
	maker.head.main_pid = made->main_pid;
	spool_maker_identity(&maker, "run-1", out_path);
	if (made->env)
		spool_maker_env(&maker, made->env);
	if (made->env2)
		spool_maker_env(&maker, made->env2);
	spool_maker_env(&maker, "PATH=/usr/bin:/bin");
	spool_maker_region(&maker, 0, "mpi/MPI_Send", UINT64_MAX);
	spool_maker_region(&maker, 1, "unused", UINT64_MAX);
	spool_maker_region(&maker, 2, "not even a site", UINT64_MAX);
	spool_maker_site(&maker, 0, "MPI_Send", "libmpi.so.40", CM_SITE_PATCHED);
	spool_maker_site(&maker, 0, "PMPI_Send", "libmpi.so.40", CM_SITE_PATCHED);
	spool_maker_site(&maker, 0, "MPI_Send", "libmpi.so.40", CM_SITE_GONE);
	spool_maker_site(&maker, 1, "MPI_Recv", "libmpi.so.40", CM_SITE_PATCHED);
	spool_maker_thread(&maker, 0, 0, 4242, "main");
	for (uint64_t i = 0; i < made->n_calls; i++)
		spool_words_call(&words, 0, 1000 + 200 * i, 1100 + 200 * i, 0);
	spool_maker_dat(&maker, 0, &words);
	spool_maker_process(&maker);
	spool_words_fini(&words);
	spool_maker_fini(&maker);
}

static void collect(const char *path, const struct cm_collect_options *options, int expected)
{
	static const struct cm_collect_options defaults;
	struct cm_diag diag = {0};
	int rc = cm_collect_spool(path, options ? options : &defaults, &diag);

	cr_assert_eq(rc, expected, "%d: %s", rc, diag.text);
	cr_assert_eq(rc < 0, diag.text[0] != '\0');
}

static void collect_run(int expected)
{
	static const struct cm_collect_options defaults;
	struct cm_diag diag = {0};
	int rc = cm_collect_run(run_path, &defaults, complain, &diag);

	cr_assert_eq(rc, expected, "%d: %s %s", rc, diag.text, complaint);
}

/* How many calls a file has; -1: there is none. */
static int64_t count_calls(const char *path)
{
	struct cm_results *results;
	struct cm_diag diag = {0};
	int64_t n = 0;
	int rc = cm_results_open(&results, path, &diag);

	if (rc == -ENOENT)
		return -1;
	cr_assert_eq(rc, 0, "%s", diag.text);
	for (size_t i = 0; i < cm_results_n_ranks(results); i++)
		n += (int64_t)cm_results_rank(results, i)->regions[0].stats.calls;
	cm_results_close(results);
	return n;
}

static int64_t count_other(uint64_t pid)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/out.prog-%lu.h5", tempdir, (unsigned long)pid);
	return count_calls(path);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

Test(collect_spool, makes_a_profile_and_removes_the_spool_and_the_runs_folder)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 1000};
	const struct cm_result_rank *rank;
	struct cm_results *results;
	struct cm_diag diag = {0};
	int64_t starts[1000], ends[1000];

	make(&made);
	collect(made.path, NULL, 0);
	cr_assert_not(exists(run_path));
	cr_assert_eq(cm_results_open(&results, out_path, &diag), 0, "%s", diag.text);
	cr_assert_eq(cm_results_n_ranks(results), 1);
	cr_assert_str_eq(cm_results_run_id(results), "run-1");
	rank = cm_results_rank(results, 0);
	cr_assert_eq(rank->n_regions, 1);
	cr_assert_str_eq(rank->regions[0].stats.tag, "mpi/MPI_Send");
	cr_assert_str_eq(rank->regions[0].stats.library, "libmpi.so.40");
	cr_assert_eq(rank->regions[0].stats.n_symbols, 2);
	cr_assert_eq(rank->regions[0].stats.calls, 1000);
	cr_assert_eq(rank->regions[0].stats.total_ns, 100000);
	cr_assert_eq(rank->n_never_called, 1);
	cr_assert_str_eq(rank->never_called[0], "unused");
	cr_assert_eq(rank->threads[0].tid, 4242);
	cr_assert_eq(rank->threads[0].first_ns, 1000);
	cr_assert_eq(cm_results_read_calls(results, 0, 0, 0, 1000, starts, ends, NULL, &diag), 0);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(starts[i], 1000 + 200 * i);
		cr_assert_eq(ends[i], 1100 + 200 * i);
	}
	cm_results_close(results);
}

Test(collect_spool, makes_no_file_of_a_process_that_recorded_nothing)
{
	struct made made = {.pid = DEAD_PID, .start = 1};

	make(&made);
	collect(made.path, NULL, 0);
	cr_assert_not(exists(made.path));
	cr_assert_eq(count_calls(out_path), -1);
}

Test(collect_spool, keeps_the_spool_when_the_file_cannot_be_written)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 10};
	struct cm_collect_options options = {.output = "/nonexistent/folder/out.h5"};

	make(&made);
	collect(made.path, &options, -ENOENT);
	cr_assert(exists(made.path));
	collect(made.path, NULL, 0);
	cr_assert_eq(count_calls(out_path), 10);
}

Test(collect_spool, leaves_somebody_elses_file_and_keeps_the_spool)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 10};
	FILE *file = fopen(out_path, "w");

	fputs("my thesis", file);
	fclose(file);
	make(&made);
	collect(made.path, NULL, -EEXIST);
	cr_assert(exists(made.path));
	cr_assert_eq(count_other(DEAD_PID), -1);
}

Test(collect_spool, keeps_the_spool_when_told_so)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 10};
	struct cm_collect_options options = {.keep = true};

	make(&made);
	collect(made.path, &options, 0);
	cr_assert_eq(count_calls(out_path), 10);
	cr_assert(exists(made.path));
}

Test(collect_spool, refuses_a_spool_that_others_can_write)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 10};

	make(&made);
	cr_assert_eq(chmod(made.path, 0777), 0);
	collect(made.path, NULL, -EPERM);
	cr_assert(exists(made.path));
}

Test(collect_spool, only_removes_a_spool_that_was_taken_over_before)
{
	struct made made = {.pid = DEAD_PID, .start = 1, .n_calls = 10};
	char done[256];

	make(&made);
	snprintf(done, sizeof(done), "%s/done", made.path);
	close(open(done, O_WRONLY | O_CREAT, 0600));
	collect(made.path, NULL, 0);
	cr_assert_not(exists(made.path));
	cr_assert_eq(count_calls(out_path), -1);
}

Test(collect_spool, gives_the_main_name_to_the_process_that_run_started)
{
	struct made child = {.pid = 71, .start = 1, .main_pid = 70, .n_calls = 5};
	struct made main_one = {.pid = 70, .start = 2, .main_pid = 70, .n_calls = 50};
	struct made image = {.pid = 70, .start = 3, .main_pid = 70, .n_calls = 500};
	struct made image2 = {.pid = 70, .start = 4, .main_pid = 70, .n_calls = 5000};
	char path[192];

	make(&child);
	make(&main_one);
	make(&image);
	make(&image2);
	collect(child.path, NULL, 0);
	collect(main_one.path, NULL, 0);
	/* The same process, after exec: another name, and another one again. */
	collect(image.path, NULL, 0);
	collect(image2.path, NULL, 0);
	cr_assert_eq(count_calls(out_path), 50);
	cr_assert_eq(count_other(71), 5);
	cr_assert_eq(count_other(70), 500);
	snprintf(path, sizeof(path), "%s/out.prog-70-2.h5", tempdir);
	cr_assert_eq(count_calls(path), 5000);
}

Test(collect_spool, joins_the_ranks_of_a_run)
{
	struct made first = {
		.pid = 80, .start = 1, .env = "PMI_RANK=0", .env2 = "PMI_SIZE=2", .n_calls = 7};
	struct made second = {
		.pid = 81, .start = 1, .env = "PMI_RANK=1", .env2 = "PMI_SIZE=2", .n_calls = 7};

	make(&first);
	make(&second);
	collect(second.path, NULL, 0);
	collect(first.path, NULL, 0);
	cr_assert_eq(count_calls(out_path), 14);
}

Test(collect_spool, takes_over_what_is_left_of_a_run)
{
	struct made child = {.pid = DEAD_PID, .start = 1, .main_pid = DEAD_PID + 1, .n_calls = 5};
	struct made main_one = {
		.pid = DEAD_PID + 1, .start = 2, .main_pid = DEAD_PID + 1, .n_calls = 50};

	make(&child);
	make(&main_one);
	collect_run(0);
	cr_assert_eq(count_calls(out_path), 50);
	cr_assert_eq(count_other(DEAD_PID), 5);
	cr_assert_not(exists(run_path));
}

Test(collect_spool, gives_the_main_name_to_the_first_when_its_owner_recorded_nothing)
{
	struct made first = {.pid = DEAD_PID, .start = 1, .main_pid = 70, .n_calls = 5};
	struct made second = {.pid = DEAD_PID + 1, .start = 2, .main_pid = 70, .n_calls = 50};
	char matched[192];

	make(&second);
	make(&first);
	snprintf(matched, sizeof(matched), "%s/matched", run_path);
	close(open(matched, O_WRONLY | O_CREAT, 0600));
	/* The first was collected when it ended, the second was killed. */
	collect(first.path, NULL, 0);
	cr_assert_eq(count_other(DEAD_PID), 5);
	collect_run(0);
	cr_assert_eq(count_calls(out_path), 5);
	cr_assert_eq(count_other(DEAD_PID), -1);
	cr_assert_eq(count_other(DEAD_PID + 1), 50);
	cr_assert_not(exists(run_path));
}

Test(collect_spool, notes_every_file_it_made)
{
	struct made child = {.pid = 71, .start = 1, .main_pid = 70, .n_calls = 5};
	struct made main_one = {.pid = 70, .start = 2, .main_pid = 70, .n_calls = 50};
	struct made alive = {.pid = 72, .start = 3, .main_pid = 70, .n_calls = 1};
	char path[192], text[1024] = "", expected[512];
	FILE *file;

	make(&child);
	make(&main_one);
	make(&alive);
	collect(child.path, NULL, 0);
	collect(main_one.path, NULL, 0);
	snprintf(path, sizeof(path), "%s/outputs", run_path);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	cr_assert_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	snprintf(expected, sizeof(expected), "0\t71\t0\t%s/out.prog-71.h5\n0\t70\t1\t%s\n", tempdir,
		 out_path);
	cr_assert_str_eq(text, expected);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	cr_assert_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

Test(collect_spool, leaves_the_spools_of_living_processes_and_says_what_failed)
{
	struct made alive = {.start = 1, .n_calls = 5};
	struct made broken = {.pid = DEAD_PID, .start = 1, .n_calls = 5};
	struct made good = {.pid = DEAD_PID + 1, .start = 2, .n_calls = 9};
	char path[256];
	FILE *file;

	alive.pid = (uint64_t)getpid();
	alive.start = now_ns();
	make(&alive);
	make(&broken);
	make(&good);
	snprintf(path, sizeof(path), "%s/process", broken.path);
	file = fopen(path, "w");
	fputs("this is a text file of more than sixty-four bytes, and nothing else at all", file);
	fclose(file);
	collect_run(-EIO);
	cr_assert_eq(n_complaints, 1);
	cr_assert(strstr(complaint, "not a callmark spool"), "%s", complaint);
	cr_assert(exists(alive.path));
	cr_assert(exists(broken.path));
	cr_assert_not(exists(good.path));
	cr_assert_eq(count_calls(out_path), 9);
}

Test(collect_spool, completes_ranks_that_wait_for_others)
{
	struct made made = {.pid = DEAD_PID,
			    .start = 1,
			    .env = "PMI_RANK=1",
			    .env2 = "PMI_SIZE=4",
			    .n_calls = 7};
	char path[192];

	make(&made);
	snprintf(path, sizeof(path), "%s/matched", run_path);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	/* Three ranks never come. */
	collect_run(0);
	cr_assert_eq(count_calls(out_path), 7);
	snprintf(path, sizeof(path), "%s/.out.h5.shards", tempdir);
	cr_assert_not(exists(path));
}

/* What a daemon may find: its own earlier program, a killed process, and the file of its `run`. */
struct rest {
	struct made earlier, own, killed;
	char matched[192];
	int matched_fd;
};

static void make_rest(struct rest *rest)
{
	uint64_t now = now_ns(), pid = (uint64_t)getpid();

	*rest = (struct rest){.earlier = {.pid = pid, .start = now, .n_calls = 5},
			      .own = {.pid = pid, .start = now + 1000, .n_calls = 50},
			      .killed = {.pid = DEAD_PID, .start = 1, .n_calls = 7}};
	make(&rest->earlier);
	make(&rest->own);
	make(&rest->killed);
	snprintf(rest->matched, sizeof(rest->matched), "%s/matched", run_path);
	rest->matched_fd = open(rest->matched, O_RDWR | O_CREAT, 0600);
	cr_assert_geq(rest->matched_fd, 0);
}

static void collect_rest(const char *spool_path)
{
	static const struct cm_collect_options defaults;

	collect(spool_path, NULL, 0);
	cm_collect_rest(run_path, spool_path, &defaults, complain);
	cr_assert_eq(n_complaints, 0, "%s", complaint);
}

Test(collect_spool, a_process_that_outlived_its_run_takes_over_the_rest)
{
	struct rest rest;

	make_rest(&rest);
	collect_rest(rest.own.path);
	cr_assert_not(exists(run_path));
	cr_assert_eq(count_calls(out_path), 50);
	cr_assert_eq(count_other((uint64_t)getpid()), 5);
	cr_assert_eq(count_other(DEAD_PID), 7);
}

Test(collect_spool, a_process_takes_over_only_its_own_while_a_run_stands)
{
	struct rest rest;
	int probe;

	make_rest(&rest);
	cr_assert_eq(flock(rest.matched_fd, LOCK_SH), 0);
	collect_rest(rest.own.path);
	cr_assert_not(exists(rest.earlier.path));
	cr_assert(exists(rest.killed.path));
	cr_assert(exists(rest.matched));
	/* It would be taken for another `run` if it held the lock. */
	probe = open(rest.matched, O_RDONLY);
	cr_assert_eq(flock(rest.matched_fd, LOCK_UN), 0);
	cr_assert_eq(flock(probe, LOCK_EX | LOCK_NB), 0);
}

Test(collect_spool, whoever_collects_an_ended_process_or_a_later_program_is_not_at_its_exit)
{
	struct rest rest;

	make_rest(&rest);
	collect_rest(rest.killed.path);
	cr_assert(exists(rest.earlier.path));
	cr_assert(exists(rest.own.path));
	cr_assert_eq(flock(rest.matched_fd, LOCK_SH), 0);
	collect_rest(rest.earlier.path);
	cr_assert(exists(rest.own.path));
}
