/* SPDX-License-Identifier: BSD-3-Clause */
#include "collector/names.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct name_row {
	char pattern[48]; /* as --output; "" none */
	char output[48];  /* of the spool */
	char cwd[24];
	char exe[24];
	int64_t rank; /* -1: none */
	bool is_ranked;
	uint64_t main_pid; /* the process is 50 */
	bool has_main;
	int64_t join_size; /* of 4 ranks */
	char main_path[64];
	char other_path[80];
};

ParameterizedTestParameters(names, follow_the_rules)
{
	static struct name_row rows[] = {
		/* Serial: the process that `run` started, or without `run` the first. */
		{"", "/d/out.h5", "/w", "/bin/prog", -1, false, 50, true, 1, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		{"", "/d/out.h5", "/w", "/bin/prog", -1, false, 49, false, 1, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		{"", "/d/out.h5", "/w", "/bin/prog", -1, false, 0, true, 1, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		/* Ranks join, unless `run` is inside the rank and started somebody else. */
		{"", "/d/out.h5", "/w", "/bin/prog", 2, false, 49, true, 4, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		{"", "/d/out.h5", "/w", "/bin/prog", 2, true, 50, true, 4, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		{"", "/d/out.h5", "/w", "/bin/prog", 2, true, 49, false, 4, "/d/out.h5",
		 "/d/out.prog-50.h5"},
		/* Patterns. */
		{"", "/d/%h/r%r.h5", "/w", "/bin/prog", 2, false, 0, true, 1, "/d/node7/r2.h5",
		 "/d/node7/r2.prog-50.h5"},
		{"", "/d/x-%p.h5", "/w", "/bin/prog", -1, false, 49, true, 1, "/d/x-50.h5",
		 "/d/x-50.prog-50.h5"},
		{"", "/d/%x%%r%", "/w", "/bin/prog", -1, false, 0, true, 1, "/d/%x%0%",
		 "/d/%x%0%.prog-50.h5"},
		/* Where there is no name. */
		{"", "", "/w", "/bin/prog", -1, false, 0, true, 1, "/w/profiling_data.h5",
		 "/w/profiling_data.prog-50.h5"},
		{"", "rel.h5", "/w", "/bin/prog", -1, false, 0, true, 1, "/w/rel.h5",
		 "/w/rel.prog-50.h5"},
		{"here.h5", "/d/out.h5", "/w", "/bin/prog", -1, false, 0, true, 1, "here.h5",
		 "here.prog-50.h5"},
		/* Executables. */
		{"", "/d/out.h5", "/w", "", -1, false, 0, true, 1, "/d/out.h5",
		 "/d/out.process-50.h5"},
		{"", "/d/out.h5", "/w", "/b/my prog\t(1)", -1, false, 0, true, 1, "/d/out.h5",
		 "/d/out.my_prog__1_-50.h5"},
		{"", "/d/.h5", "/w", "/b/python3.11", -1, false, 0, true, 1, "/d/.h5",
		 "/d/.h5.python3.11-50.h5"},
	};

	return cr_make_param_array(struct name_row, rows, sizeof(rows) / sizeof(rows[0]));
}

static void fill(struct cm_spool_reader *reader, struct name_row *row, const char **env)
{
	memset(reader, 0, sizeof(*reader));
	reader->path = "spool";
	reader->output = row->output;
	reader->cwd = row->cwd;
	reader->executable = row->exe;
	reader->hostname = "node7";
	reader->process.pid = 50;
	reader->process.main_pid = row->main_pid;
	reader->env = env;
	reader->n_env = row->is_ranked;
}

ParameterizedTest(struct name_row *row, names, follow_the_rules)
{
	const char *env[] = {"CALLMARK_RANKED=1"};
	struct cm_rank rank = {row->rank >= 0, row->rank >= 0 ? row->rank : 0,
			       row->rank >= 0 ? 4 : 1, ""};
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};
	struct cm_names names;

	fill(&reader, row, env);
	cr_assert_eq(cm_names_find(&names, &reader, &rank, row->pattern, &diag), 0, "%s",
		     diag.text);
	cr_assert_eq(names.has_main, row->has_main);
	cr_assert_eq(names.join_size, row->join_size);
	cr_assert_str_eq(names.main_path, row->main_path);
	cr_assert_str_eq(names.other_path, row->other_path);
	cm_arena_fini(&reader.arena);
}

Test(names, that_are_too_long_are_an_error)
{
	struct name_row row = {.cwd = "/w", .exe = "x"};
	struct cm_rank rank = {.size = 1};
	struct cm_spool_reader reader;
	struct cm_diag diag = {0};
	struct cm_names names;
	char *pattern = malloc(2 * PATH_MAX);

	memset(pattern, 'x', 2 * PATH_MAX - 1);
	pattern[2 * PATH_MAX - 1] = '\0';
	fill(&reader, &row, NULL);
	cr_assert_eq(cm_names_find(&names, &reader, &rank, pattern, &diag), -ENAMETOOLONG);
	cr_assert(strstr(diag.text, "name"));
	free(pattern);
}
