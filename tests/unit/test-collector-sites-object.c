/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/sites.h"

#define RULES "a_function_of_this_program internal=yes"

static char folder[64], cache[80];
static struct cm_sites_rules rules;

__attribute__((noinline, noclone)) static int a_function_of_this_program(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3 + 1;
}

static void init(void)
{
	struct cm_diag diag = {0};

	strcpy(folder, "/tmp/test-collector-sites-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(cache, sizeof(cache), "%s/a/cache", folder);
	cr_assert_eq(cm_sites_rules_load(&rules, NULL, RULES, &diag), 0, "%s", diag.text);
}

static void fini(void)
{
	char command[128];

	cm_sites_rules_fini(&rules);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	cr_expect_eq(system(command), 0);
}

TestSuite(sites_object, .init = init, .fini = fini);

/* Make it, or keep it, for this program. */
static int make(const char *const *folders, size_t n_folders, bool force, struct cm_diag *diag)
{
	struct cm_sites_target target = {
		.folders = folders, .n_folders = n_folders, .force = force};

	return cm_sites_object_write(&rules, "/proc/self/exe", &target, diag);
}

static void make_good(bool force)
{
	const char *folders[] = {cache};
	struct cm_diag diag = {0};

	cr_assert_eq(make(folders, 1, force, &diag), 0, "%s", diag.text);
}

/* The one file in the folder. */
static void find_file(const char *in, char path[256])
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", in);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "%s", pattern);
	cr_assert_eq(found.gl_pathc, 1, "%zu files", found.gl_pathc);
	snprintf(path, 256, "%s", found.gl_pathv[0]);
	globfree(&found);
}

static struct stat stat_file(void)
{
	char path[256];
	struct stat st;

	find_file(cache, path);
	cr_assert_eq(stat(path, &st), 0);
	return st;
}

static struct cm_site_file *read_file(const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	void *bytes;

	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	cr_assert_eq(read(fd, bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_n = (size_t)st.st_size;
	return bytes;
}

Test(sites_object, writes_what_the_preload_reads)
{
	const struct cm_site_function *function;
	struct cm_site_file *file;
	char path[256];
	size_t n;

	make_good(false);
	find_file(cache, path);
	cr_expect_not_null(strstr(path, ".sites"));
	file = read_file(path, &n);
	cr_assert_eq(cm_site_file_check(file, n, rules.hash), 0);
	cr_assert_eq(file->n_functions, 1);
	function = cm_site_functions(file);
	cr_expect_str_eq(cm_site_string(file, file->object), "/proc/self/exe");
	cr_expect_str_eq(cm_site_string(file, function->symbol), "a_function_of_this_program");
	cr_expect_str_eq(cm_site_string(file, function->source), "test-collector-sites-object.c");
	cr_expect_eq(function->how, CM_SITE_HOW_JUMP, "%s", cm_site_string(file, function->reason));
	/* What runs is what was read. */
	cr_expect_eq(memcmp((const char *)a_function_of_this_program +
				    (function->place - function->offset),
			    function->expected, function->n_expected),
		     0);
	cr_expect_gt(file->n_symbols, 20);
	cr_expect_gt(file->n_symtab, 20);
	free(file);
}

Test(sites_object, keeps_a_good_file)
{
	struct stat first, second;

	make_good(false);
	first = stat_file();
	make_good(false);
	second = stat_file();
	cr_expect_eq(first.st_ino, second.st_ino);
	make_good(true);
	second = stat_file();
	cr_expect_neq(first.st_ino, second.st_ino);
	cr_expect_eq(second.st_mode & 0777, 0600);
}

/* Change a byte or the size, and see that it is made again. */
static void expect_made_again(off_t at, char byte, off_t n_bytes)
{
	struct stat first, second;
	char path[256];
	int fd;

	make_good(false);
	first = stat_file();
	find_file(cache, path);
	fd = open(path, O_WRONLY);
	if (n_bytes >= 0)
		cr_assert_eq(ftruncate(fd, n_bytes), 0);
	else
		cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
	close(fd);
	make_good(false);
	second = stat_file();
	cr_expect_neq(first.st_ino, second.st_ino);
	cr_expect_eq(first.st_size, second.st_size);
}

Test(sites_object, makes_a_cut_file_again)
{
	expect_made_again(0, 0, 200);
}

Test(sites_object, makes_an_empty_file_again)
{
	expect_made_again(0, 0, 0);
}

Test(sites_object, makes_a_damaged_file_again)
{
	expect_made_again(offsetof(struct cm_site_file, magic), 'x', -1);
}

Test(sites_object, makes_one_with_another_debug_file_again)
{
	expect_made_again(offsetof(struct cm_site_file, debug_mtime_ns), 'x', -1);
}

Test(sites_object, makes_one_of_a_stripped_object_again)
{
	expect_made_again(offsetof(struct cm_site_file, n_symtab), 'x', -1);
}

Test(sites_object, does_not_trust_a_file_that_others_can_write)
{
	struct stat first, second;
	char path[256];

	make_good(false);
	first = stat_file();
	find_file(cache, path);
	cr_assert_eq(chmod(path, 0622), 0);
	make_good(false);
	second = stat_file();
	cr_expect_neq(first.st_ino, second.st_ino);
	cr_expect_eq(second.st_mode & 0777, 0600);
}

Test(sites_object, makes_folders_for_the_user_alone)
{
	struct stat st;

	make_good(false);
	cr_assert_eq(stat(cache, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0700);
}

Test(sites_object, takes_no_folder_that_others_can_write)
{
	const char *folders[] = {cache, NULL};
	struct cm_diag diag = {0};
	char second[80], path[256];

	make_good(false);
	find_file(cache, path);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(chmod(cache, 0777), 0);
	cr_expect_eq(make(folders, 1, false, &diag), -EPERM);
	cr_expect_not_null(strstr(diag.text, cache), "%s", diag.text);
	snprintf(second, sizeof(second), "%s/second", folder);
	folders[1] = second;
	memset(&diag, 0, sizeof(diag));
	cr_assert_eq(make(folders, 2, false, &diag), 0, "%s", diag.text);
	find_file(second, path);
}

Test(sites_object, refuses_what_is_no_object)
{
	const char *folders[] = {cache};
	struct cm_sites_target target = {.folders = folders, .n_folders = 1};
	struct cm_diag diag = {0};

	cr_expect_eq(cm_sites_object_write(&rules, "/etc/passwd", &target, &diag), -ENOEXEC);
	cr_expect_not_null(strstr(diag.text, "/etc/passwd"), "%s", diag.text);
	memset(&diag, 0, sizeof(diag));
	cr_expect_eq(cm_sites_object_write(&rules, "/nowhere", &target, &diag), -ENOENT);
	cr_expect_not_null(strstr(diag.text, "/nowhere"), "%s", diag.text);
}

Test(sites_object, rules_that_are_wrong_are_told)
{
	struct cm_sites_rules wrong;
	struct cm_diag diag = {0};

	cr_expect_eq(cm_sites_rules_load(&wrong, NULL, "solve internal=perhaps", &diag), -EINVAL);
	cr_expect_neq(diag.text[0], '\0');
	memset(&diag, 0, sizeof(diag));
	cr_expect_eq(cm_sites_rules_load(&wrong, "/nowhere/rules", NULL, &diag), -ENOENT);
	cr_expect_not_null(strstr(diag.text, "/nowhere/rules"), "%s", diag.text);
}

Test(sites_object, runs)
{
	cr_expect_eq(a_function_of_this_program(2), 7);
}
