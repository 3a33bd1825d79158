/* SPDX-License-Identifier: BSD-3-Clause */
/* Who starts ranks, and the id of a run that its launcher does not name: preload/launcher.c. */
#include "preload/launcher.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct launcher_row {
	char executable[24];
	char arguments[2][40]; /* behind argv[0] */
	bool is_launcher;
};

ParameterizedTestParameters(launcher, processes_of_launchers_are_known)
{
	static struct launcher_row rows[] = {
		{"mpirun", {""}, true},
		{"orterun", {"-n"}, true},
		{"hydra_pmi_proxy", {""}, true},
		{"mpiexec.hydra", {""}, true},
		{"srun", {""}, true},
		{"prted", {""}, true},
		{"solver", {"mpirun"}, false},
		{"mpirunner", {""}, false},
		{"", {""}, false},
		{"bash", {""}, false},
		{"bash", {"-c", "mpirun -n 4 ./solver"}, false},
		{"bash", {"/opt/mpi/bin/mpirun", "-n"}, true},
		{"bash", {"-l", "/home/me/.likwidscript_4711.txt"}, true},
		{"dash", {"./job.sh", "mpirun"}, false},
		{"lua5.3", {"/usr/bin/likwid-mpirun", "-n"}, true},
		{"lua5.3", {"/usr/bin/likwid-perfctr", "-C"}, true},
		{"lua5.3", {"model.lua", ""}, false},
		{"python3.11", {"model.py", "mpirun"}, false},
		{"shell", {"mpirun", ""}, false},
	};

	return cr_make_param_array(struct launcher_row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct launcher_row *row, launcher, processes_of_launchers_are_known)
{
	char *argv[] = {row->executable, row->arguments[0], row->arguments[1], NULL};
	int argc = 1 + (row->arguments[0][0] != '\0') + (row->arguments[1][0] != '\0');

	cr_assert_eq(cm_launcher_is(row->executable, argc, argv), row->is_launcher, "%s %s %s",
		     row->executable, row->arguments[0], row->arguments[1]);
}

static const char *get(void *ctx, const char *name)
{
	const char *const *variables = ctx;

	for (; *variables; variables += 2)
		if (strcmp(variables[0], name) == 0)
			return variables[1];
	return NULL;
}

/* The id that a child, a grandchild where deep, gets. */
static void id_of_child(const char *const *variables, bool deep, char buf[128])
{
	int pipe_fds[2];
	ssize_t n;

	cr_assert_eq(pipe(pipe_fds), 0);
	if (fork() == 0) {
		if (deep && fork() != 0) {
			while (wait(NULL) > 0)
				;
			_exit(0);
		}
		n = (ssize_t)cm_launcher_run_id(get, (void *)variables, buf, 128);
		_exit(write(pipe_fds[1], buf, (size_t)n) == n ? 0 : 1);
	}
	close(pipe_fds[1]);
	n = read(pipe_fds[0], buf, 127);
	cr_assert_geq(n, 0);
	buf[n] = '\0';
	close(pipe_fds[0]);
	while (wait(NULL) > 0)
		;
}

Test(launcher, ranks_of_one_parent_have_one_id)
{
	static const char *const variables[] = {"PMI_RANK", "1", NULL, NULL};
	static const char *const serial[] = {"HOME", "/root", NULL, NULL};
	char first[128], second[128], deep[128], none[128];

	id_of_child(variables, false, first);
	id_of_child(variables, false, second);
	cr_assert_gt(strlen(first), 12u);
	cr_assert_str_eq(first, second);
	id_of_child(variables, true, deep);
	cr_assert_str_neq(first, deep, "another parent, and no launcher above");
	id_of_child(serial, false, none);
	cr_assert_str_eq(none, "");
}

Test(launcher, its_own_id_comes_first)
{
	static const char *const pmix[] = {"PMIX_NAMESPACE", "job.7", "PMI_RANK", "1", NULL, NULL};
	static const char *const slurm[] = {
		"SLURM_JOB_ID", "12", "SLURM_STEP_ID", "3", "PMI_RANK", "0", NULL, NULL};
	char id[128];

	id_of_child(pmix, false, id);
	cr_assert_str_eq(id, "job.7");
	id_of_child(slurm, false, id);
	cr_assert_str_eq(id, "12.3", "no Hydra above us");
}
