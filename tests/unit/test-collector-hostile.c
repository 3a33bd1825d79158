/* SPDX-License-Identifier: BSD-3-Clause */
/* Spools that the fuzzer once choked on (tests/data/spool), through the fuzzer's own entry. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
void fuzz_spool_clean_up(void);

#define MAX_FILES 64

struct file_row {
	char name[64];
};

static uint8_t data[1 << 20];

static size_t read_file(const char *name)
{
	char path[512];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), CM_TEST_DATA "/spool/%s", name);
	file = fopen(path, "rb");
	cr_assert_not_null(file, "%s", path);
	n = fread(data, 1, sizeof(data), file);
	fclose(file);
	cr_assert_gt(n, 0);
	return n;
}

ParameterizedTestParameters(hostile, spools_that_once_crashed_are_survived)
{
	static struct file_row rows[MAX_FILES];
	DIR *dir = opendir(CM_TEST_DATA "/spool");
	struct dirent *entry;
	size_t n = 0;

	while (dir && n < MAX_FILES && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			snprintf(rows[n++].name, sizeof(rows[0].name), "%.63s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return cr_make_param_array(struct file_row, rows, n);
}

ParameterizedTest(struct file_row *row, hostile, spools_that_once_crashed_are_survived)
{
	cr_assert_eq(LLVMFuzzerTestOneInput(data, read_file(row->name)), 0);
	fuzz_spool_clean_up();
}

Test(hostile, every_beginning_of_a_good_spool_is_survived)
{
	size_t n_bytes = read_file("good");

	for (size_t cut = 0; cut <= n_bytes; cut++)
		cr_assert_eq(LLVMFuzzerTestOneInput(data, cut), 0);
	fuzz_spool_clean_up();
}
