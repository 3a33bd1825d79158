/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of spool folders, and which existing folders are trusted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "preload/spool-path.h"

Test(spool_path, the_base_is_the_first_that_is_set)
{
	cr_assert_str_eq(cm_spool_base("/a", "/b"), "/a");
	cr_assert_str_eq(cm_spool_base(NULL, "/b"), "/b");
	cr_assert_str_eq(cm_spool_base("", "/b"), "/b");
	cr_assert_str_eq(cm_spool_base("", ""), "/tmp");
	cr_assert_str_eq(cm_spool_base(NULL, NULL), "/tmp");
}

struct path_row {
	char base[16];
	unsigned long uid;
	char run_id[24];
	char expected[64];
};

static const struct path_row path_rows[] = {
	{"/tmp", 0, "abc", "/tmp/callmark-0/abc"},
	{"/tmp/", 1000, "A.b_c-9", "/tmp/callmark-1000/A.b_c-9"},
	{"/", 1, "x", "/callmark-1/x"},
	{"rel//", 4294967295, "x", "rel/callmark-4294967295/x"},
	{"/tmp", 18446744073709551615u, "x", "/tmp/callmark-18446744073709551615/x"},
	{"/tmp", 1, "../../etc", "/tmp/callmark-1/_._.._etc"},
	{"/tmp", 1, ".", "/tmp/callmark-1/_"},
	{"/tmp", 1, "a b/c@d\n", "/tmp/callmark-1/a_b_c_d_"},
	{"/tmp", 1, "\xc3\xa9", "/tmp/callmark-1/__"},
};

Test(spool_path, run_paths_are_made_of_harmless_characters)
{
	for (size_t i = 0; i < sizeof(path_rows) / sizeof(path_rows[0]); i++) {
		const struct path_row *row = &path_rows[i];
		char buf[CM_SPOOL_PATH_BYTES];

		cr_assert_eq(cm_spool_run_path(row->base, row->uid, row->run_id, buf, sizeof(buf)),
			     0);
		cr_assert_str_eq(buf, row->expected);
	}
}

Test(spool_path, a_long_run_id_is_cut_and_an_empty_one_refused)
{
	char id[300];
	char buf[CM_SPOOL_PATH_BYTES];

	memset(id, 'i', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	cr_assert_eq(cm_spool_run_path("/t", 1, id, buf, sizeof(buf)), 0);
	cr_assert_eq(strlen(buf), strlen("/t/callmark-1/") + 100);
	cr_assert_eq(cm_spool_run_path("/t", 1, "", buf, sizeof(buf)), -EINVAL);
}

Test(spool_path, a_path_that_does_not_fit_leaves_the_buffer_alone)
{
	char buf[32] = "before";
	size_t needed = strlen("/tmp/callmark-7/abc") + 1;

	cr_assert_eq(cm_spool_run_path("/tmp", 7, "abc", buf, needed - 1), -ENAMETOOLONG);
	cr_assert_eq(cm_spool_run_path("/tmp", 7, "abc", buf, 0), -ENAMETOOLONG);
	cr_assert_str_eq(buf, "before");
	cr_assert_eq(cm_spool_run_path("/tmp", 7, "abc", buf, needed), 0);
	cr_assert_str_eq(buf, "/tmp/callmark-7/abc");
}

/* An environment: NAME=VALUE strings, NULL at the end. */
static const char *get(void *ctx, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *variable = ctx; *variable; variable++)
		if (strncmp(*variable, name, n) == 0 && (*variable)[n] == '=')
			return *variable + n + 1;
	return NULL;
}

static void assert_run_id(const char *const *environment, const char *expected)
{
	char buf[64] = "before";
	size_t n = cm_spool_launcher_run_id(get, (void *)environment, buf, sizeof(buf));

	cr_assert_str_eq(buf, expected);
	cr_assert_eq(n, strlen(expected));
}

Test(spool_path, the_launchers_run_id_is_found_in_the_documented_order)
{
	static const char *const environment[] = {
		"PMIX_NAMESPACE=pmix@1",
		"OMPI_MCA_ess_base_jobid=17",
		"SLURM_JOB_ID=5",
		"SLURM_STEP_ID=2",
		"PALS_APID=pals",
		"FLUX_JOB_ID=flux",
		NULL,
	};

	assert_run_id(environment, "pmix@1");
	assert_run_id(environment + 1, "17");
	assert_run_id(environment + 2, "5.2");
	assert_run_id(environment + 4, "pals");
	assert_run_id(environment + 5, "flux");
	assert_run_id(environment + 6, "");
}

Test(spool_path, empty_variables_and_a_slurm_job_without_step_say_nothing)
{
	static const char *const environment[] = {"PMIX_NAMESPACE=", "SLURM_JOB_ID=5",
						  "PALS_APID=p", NULL};
	static const char *const empty_step[] = {"SLURM_JOB_ID=5", "SLURM_STEP_ID=", NULL};
	char buf[4] = "###";

	assert_run_id(environment, "p");
	assert_run_id(empty_step, "");
	cr_assert_eq(cm_spool_launcher_run_id(get, (void *)(environment + 2), buf, 1), 0u);
	cr_assert_str_empty(buf);
}

/* A new folder to play in, and a path below it. */
struct place {
	char base[32];
	char user[64];
	char run[96];
	struct cm_diag diag;
};

static void make_place(struct place *place)
{
	*place = (struct place){.base = "/tmp/cm-test-XXXXXX"};
	cr_assert_not_null(mkdtemp(place->base));
	(void)snprintf(place->user, sizeof(place->user), "%s/callmark-1", place->base);
	(void)snprintf(place->run, sizeof(place->run), "%s/run", place->user);
}

static void remove_place(struct place *place)
{
	/* Whichever of them exist. */
	(void)remove(place->run);
	(void)remove(place->user);
	cr_assert_eq(rmdir(place->base), 0);
}

static unsigned int mode_of(const char *path)
{
	struct stat st;

	cr_assert_eq(lstat(path, &st), 0);
	cr_assert(S_ISDIR(st.st_mode));
	return st.st_mode & 0777;
}

Test(spool_path, both_folders_are_made_private_and_made_again_without_harm)
{
	struct place place;

	make_place(&place);
	errno = 77;
	for (unsigned int i = 0; i < 2; i++)
		cr_assert_eq(cm_spool_make_run(place.run, &place.diag), 0, "%s", place.diag.text);
	cr_assert_eq(errno, 77);
	cr_assert_eq(mode_of(place.user), 0700u);
	cr_assert_eq(mode_of(place.run), 0700u);
	cr_assert_str_empty(place.diag.text);
	remove_place(&place);
}

Test(spool_path, a_wide_umask_does_not_open_them)
{
	struct place place;
	mode_t before = umask(0);

	make_place(&place);
	cr_assert_eq(cm_spool_make_run(place.run, NULL), 0);
	cr_assert_eq(mode_of(place.run), 0700u);
	(void)umask(before);
	remove_place(&place);
}

/* make_run on what stands there now must fail with that reason, for the path that has it. */
static void assert_refused(struct place *place, const char *path, const char *reason)
{
	char expected[256];

	(void)snprintf(expected, sizeof(expected),
		       "%s: %s; not used for the spool (remove it or set CALLMARK_SPOOL)", path,
		       reason);
	place->diag.text[0] = '\0';
	errno = 77;
	cr_assert_eq(cm_spool_make_run(place->run, &place->diag), -EPERM);
	cr_assert_eq(errno, 77);
	cr_assert_str_eq(place->diag.text, expected);
	cr_assert_eq(cm_spool_check_owner(path, NULL), -EPERM);
}

Test(spool_path, links_files_and_open_folders_are_refused)
{
	struct place place;
	int fd;

	make_place(&place);
	cr_assert_eq(symlink("/tmp", place.user), 0);
	assert_refused(&place, place.user, "is a symbolic link");
	cr_assert_eq(unlink(place.user), 0);

	cr_assert_eq(mkdir(place.user, 0700), 0);
	cr_assert_eq(symlink(place.base, place.run), 0);
	assert_refused(&place, place.run, "is a symbolic link");
	cr_assert_eq(unlink(place.run), 0);

	fd = open(place.run, O_CREAT | O_WRONLY, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(close(fd), 0);
	assert_refused(&place, place.run, "is not a folder");
	cr_assert_eq(unlink(place.run), 0);

	cr_assert_eq(chmod(place.user, 0770), 0);
	assert_refused(&place, place.user, "can be written by others");
	cr_assert_eq(chmod(place.user, 0702), 0);
	assert_refused(&place, place.user, "can be written by others");
	cr_assert_eq(chmod(place.user, 0755), 0);
	cr_assert_eq(cm_spool_make_run(place.run, NULL), 0, "reading is no danger");
	remove_place(&place);
}

Test(spool_path, another_users_folder_is_refused)
{
	struct place place;
	const char *path = "/"; /* root's, where we are not root */

	make_place(&place);
	if (geteuid() == 0) {
		path = place.user;
		cr_assert_eq(mkdir(place.user, 0700), 0);
		cr_assert_eq(chown(place.user, 12345, 12345), 0);
		assert_refused(&place, place.user, "belongs to another user");
	}
	cr_assert_eq(cm_spool_check_owner(path, &place.diag), -EPERM);
	cr_assert_not_null(strstr(place.diag.text, "belongs to another user"));
	remove_place(&place);
}

Test(spool_path, a_missing_base_is_named_with_what_to_do)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_spool_make_run("/nonexistent/callmark-1/run", &diag), -ENOENT);
	cr_assert_str_eq(diag.text, "/nonexistent/callmark-1: cannot make the folder: no such "
				    "folder (set CALLMARK_SPOOL to a folder that can be written)");
	cr_assert_eq(cm_spool_check_owner("/nonexistent", NULL), -ENOENT);
}

Test(spool_path, paths_that_are_none_are_refused)
{
	char path[2000];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	path[5] = '/';
	path[sizeof(path) - 1] = '\0';
	cr_assert_eq(cm_spool_make_run(path, NULL), -ENAMETOOLONG);
	cr_assert_eq(cm_spool_make_run("run", NULL), -EINVAL);
	cr_assert_eq(cm_spool_make_run("/run", NULL), -EINVAL);
	cr_assert_eq(cm_spool_make_run("/tmp/", NULL), -EINVAL);
	cr_assert_eq(cm_spool_make_run("", NULL), -EINVAL);
}
