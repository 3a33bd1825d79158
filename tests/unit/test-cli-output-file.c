/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/output-file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/callmark-output.XXXXXX";

static void enter(void)
{
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
}

/* What is in the folder goes with it. */
static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(system(command), 0);
}

static size_t n_files(void)
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	size_t n = 0;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return n;
}

static void expect_content(const char *path, const char *expected)
{
	char content[64] = "";
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file, "%s is not there", path);
	content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
	fclose(file);
	cr_expect_str_eq(content, expected);
}

static int write_file(const char *path, const char *content, struct cm_diag *diag)
{
	struct cm_output output;
	int rc = cm_output_open(&output, path, diag);

	if (rc < 0)
		return rc;
	fputs(content, output.out);
	return cm_output_commit(&output, diag);
}

Test(output_file, has_its_name_when_it_is_whole, .init = enter, .fini = leave)
{
	struct cm_output output;

	cr_assert_eq(cm_output_open(&output, "new", NULL), 0);
	fputs("content", output.out);
	fflush(output.out);
	cr_expect(access("new", F_OK) < 0);
	cr_assert_eq(cm_output_commit(&output, NULL), 0);
	expect_content("new", "content");
	cr_expect_eq(n_files(), 1);
}

Test(output_file, replaces_an_old_one_in_one_step, .init = enter, .fini = leave)
{
	struct cm_output output;

	cr_assert_eq(write_file("file", "old", NULL), 0);
	cr_assert_eq(symlink("file", "link"), 0);
	cr_assert_eq(cm_output_open(&output, "link", NULL), 0);
	fputs("new", output.out);
	fflush(output.out);
	expect_content("file", "old");
	cr_assert_eq(cm_output_commit(&output, NULL), 0);
	expect_content("file", "new");
	expect_content("link", "new");
	cr_expect_eq(n_files(), 2);
}

Test(output_file, leaves_nothing_when_it_is_given_up, .init = enter, .fini = leave)
{
	struct cm_output output;

	cr_assert_eq(write_file("file", "old", NULL), 0);
	cr_assert_eq(cm_output_open(&output, "file", NULL), 0);
	fputs("new", output.out);
	cm_output_abort(&output);
	expect_content("file", "old");
	cr_expect_eq(n_files(), 1);
}

Test(output_file, works_where_files_need_names, .init = enter, .fini = leave)
{
	struct cm_output output;

	/* What open does on a file system without nameless files. */
	cr_assert_eq(cm_output_open(&output, "file", NULL), 0);
	fclose(output.out);
	output.out = fopen(output.temporary, "w");
	output.is_nameless = false;
	fputs("named", output.out);
	cr_assert_eq(cm_output_commit(&output, NULL), 0);
	expect_content("file", "named");
	cr_expect_eq(n_files(), 1);
	cr_assert_eq(cm_output_open(&output, "other", NULL), 0);
	fclose(output.out);
	output.out = fopen(output.temporary, "w");
	output.is_nameless = false;
	cm_output_abort(&output);
	cr_expect_eq(n_files(), 1);
}

Test(output_file, writes_to_what_is_no_regular_file, .init = enter, .fini = leave)
{
	struct cm_diag diag = {0};

	cr_expect_eq(write_file("/dev/null", "content", &diag), 0, "%s", diag.text);
	cr_expect_eq(write_file(".", "content", &diag), -EISDIR);
	cr_expect_eq(n_files(), 0);
}

Test(output_file, names_the_file_that_it_cannot_write, .init = enter, .fini = leave)
{
	struct cm_diag diag = {0}, full = {0};

	cr_expect_eq(write_file("none/file", "content", &diag), -ENOENT);
	cr_expect_str_eq(diag.text, "cannot write none/file: No such file or directory");
	cr_expect_eq(write_file("/dev/full", "content", &full), -ENOSPC);
	cr_expect_str_eq(full.text, "cannot write /dev/full: No space left on device");
}
