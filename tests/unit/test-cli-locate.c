/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/locate.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct row {
	char folder[64]; /* below the prefix */
	char file[32];
	enum cm_part part;
};

static struct row rows[] = {
	{"preload", "libcallmark-preload.so", CM_PART_PRELOAD},
	{"lib/callmark", "libcallmark-preload.so", CM_PART_PRELOAD},
	{"lib64/callmark", "libcallmark-preload.so", CM_PART_PRELOAD},
	{"lib/x86_64-linux-gnu/callmark", "libcallmark-preload.so", CM_PART_PRELOAD},
	{"collector", "callmark-collect", CM_PART_COLLECT},
	{"libexec/callmark", "callmark-collect", CM_PART_COLLECT},
	{"collector", "callmark-reader", CM_PART_READER},
	{"collector", "callmark-sites", CM_PART_SITES},
	{"libexec/callmark", "callmark-sites", CM_PART_SITES},
};

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700); /* may be there */
		*slash = '/';
	}
	(void)mkdir(path, 0700);
}

static void make_prefix(char *prefix, char *bin)
{
	strcpy(prefix, "/tmp/test-cli-locate-XXXXXX");
	cr_assert_not_null(mkdtemp(prefix));
	snprintf(bin, PATH_MAX, "%s/bin", prefix);
	make_folders(bin);
}

static void remove_prefix(const char *prefix)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -rf %s", prefix);
	cr_assert_eq(system(command), 0);
}

ParameterizedTestParameters(locate, finds_what_lies_where_it_is_installed)
{
	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, locate, finds_what_lies_where_it_is_installed)
{
	char prefix[PATH_MAX - 256], bin[PATH_MAX], path[PATH_MAX], found[PATH_MAX];
	struct cm_diag diag = {0};
	int fd;

	make_prefix(prefix, bin);
	snprintf(path, sizeof(path), "%s/%s", prefix, row->folder);
	make_folders(path);
	snprintf(path, sizeof(path), "%s/%s/%s", prefix, row->folder, row->file);
	fd = open(path, O_CREAT | O_WRONLY, 0700);
	cr_assert_geq(fd, 0);
	close(fd);
	cr_expect_eq(cm_locate_from(bin, row->part, found, sizeof(found), &diag), 0, "%s",
		     diag.text);
	cr_expect_str_eq(found, path);
	cr_expect_eq(cm_locate_from(bin, row->part, found, 10, &diag), -ENAMETOOLONG);
	remove_prefix(prefix);
}

Test(locate, says_where_it_looked)
{
	char prefix[PATH_MAX - 256], bin[PATH_MAX], found[PATH_MAX] = "untouched";
	struct cm_diag diag = {0};

	make_prefix(prefix, bin);
	cr_expect_eq(cm_locate_from(bin, CM_PART_PRELOAD, found, sizeof(found), &diag), -ENOENT);
	cr_expect_not_null(strstr(diag.text, "libcallmark-preload.so"));
	cr_expect_not_null(strstr(diag.text, prefix));
	cr_expect_str_eq(found, "untouched");
	remove_prefix(prefix);
}
