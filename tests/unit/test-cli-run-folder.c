/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/run-folder.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[64];
static char path[CM_SPOOL_PATH_BYTES];

static void init(void)
{
	strcpy(base, "/tmp/test-cli-run-folder-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(cm_spool_run_path(base, geteuid(), "run", path, sizeof(path)), 0);
}

static void fini(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

TestSuite(run_folder, .init = init, .fini = fini);

static void open_folder(struct cm_run_folder *folder, uint32_t n_rules)
{
	struct cm_diag diag = {0};

	cr_assert_eq(cm_run_folder_open(folder, path, n_rules, &diag), 0, "%s", diag.text);
}

static void make_in_folder(const char *name)
{
	char full[CM_SPOOL_PATH_BYTES + 64];

	snprintf(full, sizeof(full), "%s/%s", path, name);
	cr_assert_eq(mkdir(full, 0700), 0);
}

Test(run_folder, has_one_zero_byte_a_rule)
{
	struct cm_run_folder folder;
	uint8_t bytes[5000];

	open_folder(&folder, sizeof(bytes));
	memset(bytes, 0xff, sizeof(bytes));
	cr_assert_eq(cm_run_folder_read_matched(&folder, bytes, sizeof(bytes)), 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		cr_assert_eq(bytes[i], 0);
	cm_run_folder_close(&folder, true);
	cr_expect_eq(access(path, F_OK), -1);
}

Test(run_folder, keeps_what_others_have_set)
{
	struct cm_run_folder one, two;
	char matched[CM_SPOOL_PATH_BYTES + 16];
	uint8_t bytes[3];
	int fd;

	open_folder(&one, 3);
	snprintf(matched, sizeof(matched), "%s/matched", path);
	fd = open(matched, O_WRONLY);
	cr_assert_eq(pwrite(fd, "\1", 1, 1), 1);
	close(fd);
	open_folder(&two, 3);
	cr_assert_eq(cm_run_folder_read_matched(&two, bytes, 3), 0);
	cr_expect_arr_eq(bytes, "\0\1\0", 3);
	cm_run_folder_close(&two, false);
	cm_run_folder_close(&one, true);
}

Test(run_folder, knows_when_the_matches_are_of_other_rules)
{
	struct cm_run_folder one, two;
	uint8_t bytes[4];

	open_folder(&one, 3);
	open_folder(&two, 4);
	cr_expect_eq(cm_run_folder_read_matched(&two, bytes, 4), -ENODATA);
	cm_run_folder_close(&two, false);
	cm_run_folder_close(&one, true);
}

Test(run_folder, only_the_last_one_is_last)
{
	struct cm_run_folder one, two;

	cr_expect_not(cm_run_folder_in_use(path));
	open_folder(&one, 1);
	open_folder(&two, 1);
	cr_expect(cm_run_folder_in_use(path));
	cr_expect_not(cm_run_folder_is_last(&one));
	cm_run_folder_close(&one, false);
	cr_expect(cm_run_folder_is_last(&two));
	cr_expect(cm_run_folder_in_use(path));
	cm_run_folder_close(&two, true);
	cr_expect_not(cm_run_folder_in_use(path));
	cr_expect_eq(access(path, F_OK), -1);
}

Test(run_folder, stays_while_a_spool_is_in_it)
{
	struct cm_run_folder folder;

	open_folder(&folder, 1);
	make_in_folder("12-abc");
	make_in_folder("other");
	cr_expect_eq(cm_run_folder_n_spools(path), 1);
	cm_run_folder_close(&folder, true);
	cr_expect_eq(access(path, F_OK), 0);
	cr_expect_eq(cm_run_folder_n_spools("/no/such/folder"), 0);
}

Test(run_folder, refuses_a_folder_that_others_may_write)
{
	struct cm_run_folder folder;
	struct cm_diag diag = {0};

	open_folder(&folder, 1);
	cm_run_folder_close(&folder, false);
	cr_assert_eq(chmod(path, 0777), 0);
	cr_expect_eq(cm_run_folder_open(&folder, path, 1, &diag), -EPERM);
	cr_expect_not_null(strstr(diag.text, path));
	cr_expect_eq(folder.matched_fd, -1);
}

Test(run_folder, follows_no_link_in_it)
{
	struct cm_run_folder folder;
	struct cm_diag diag = {0};
	char matched[CM_SPOOL_PATH_BYTES + 16];

	open_folder(&folder, 1);
	cm_run_folder_close(&folder, false);
	snprintf(matched, sizeof(matched), "%s/matched", path);
	cr_assert_eq(unlink(matched), 0);
	cr_assert_eq(symlink("/etc/passwd", matched), 0);
	cr_expect_eq(cm_run_folder_open(&folder, path, 1, &diag), -ELOOP);
	cr_expect_neq(diag.text[0], '\0');
}

struct row {
	char name[40];
	bool is_process;
	pid_t pid;
};

static struct row rows[] = {
	{"1-a", true, 1},
	{"4194304-0123456789abcdef", true, 4194304},
	{"matched", false, 0},
	{"1-", false, 0},
	{"-a", false, 0},
	{"1-A", false, 0},
	{"1-a.tmp", false, 0},
	{"9999999999-1", false, 0},
	{"1", false, 0},
	{"1-0123456789abcdef0", false, 0},
	{"20261130T1-1", false, 0},
};

ParameterizedTestParameters(run_folder, knows_the_names_of_spools)
{
	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, run_folder, knows_the_names_of_spools, .init = NULL,
		  .fini = NULL)
{
	pid_t pid = 0;

	cr_expect_eq(cm_run_folder_is_process(row->name, &pid), row->is_process, "%s", row->name);
	cr_expect_eq(pid, row->pid);
}
