/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/recover-scan.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run-folder.h"
#include "preload/spool.h"

static char base[64];
static char run[256];
static struct cm_recover found;

static void init(void)
{
	struct cm_diag diag = {0};

	strcpy(base, "/tmp/test-cli-recover-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(cm_spool_run_path(base, geteuid(), "run", run, sizeof(run)), 0);
	cr_assert_eq(cm_spool_make_run(run, &diag), 0, "%s", diag.text);
	memset(&found, 0, sizeof(found));
}

static void fini(void)
{
	char command[128];

	cm_recover_fini(&found);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

TestSuite(recover_scan, .init = init, .fini = fini);

/* A process's spool with nothing but its header; its path into buf. */
static void make_process(pid_t pid, uint64_t start_ns, char *buf, size_t n_bytes)
{
	struct cm_spool_process head = {.magic = CM_SPOOL_PROCESS_MAGIC,
					.version = CM_SPOOL_VERSION,
					.pid = (uint64_t)pid,
					.start_mono_ns = start_ns};
	char file[512];
	int fd;

	snprintf(buf, n_bytes, "%s/%d-%lx", run, (int)pid, (unsigned long)start_ns);
	cr_assert_eq(mkdir(buf, 0700), 0);
	snprintf(file, sizeof(file), "%s/process", buf);
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	cr_assert_eq(write(fd, &head, sizeof(head)), (ssize_t)sizeof(head));
	close(fd);
}

static pid_t ended_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int scan(const char *dir)
{
	struct cm_diag diag = {0};
	int rc = cm_recover_scan(&found, dir, &diag);

	cr_expect_eq(rc < 0, diag.text[0] != '\0');
	return rc;
}

Test(recover_scan, finds_the_run_from_every_level_above)
{
	char user[256], process[512];

	make_process(ended_process(), 1, process, sizeof(process));
	snprintf(user, sizeof(user), "%s/callmark-%u", base, geteuid());
	cr_expect_eq(scan(base), 0);
	cr_expect_eq(scan(user), 0);
	cr_expect_eq(scan(run), 0);
	cr_assert_eq(found.runs.n, 3);
	for (size_t i = 0; i < 3; i++)
		cr_expect_str_eq(found.runs.paths[i], run);
	cr_expect_eq(found.processes.n, 0);
	cr_expect_eq(scan(process), 0);
	cr_assert_eq(found.processes.n, 1);
	cr_expect_str_eq(found.processes.paths[0], process);
}

Test(recover_scan, finds_nothing_where_nothing_is)
{
	cr_expect_eq(scan(base), 0);
	cr_expect_eq(scan(run), 0);
	cr_expect_eq(scan("/usr"), 0);
	cr_expect_eq(found.runs.n + found.processes.n + found.n_busy, 0);
	cr_expect_eq(scan("/no/such/folder"), -ENOENT);
}

Test(recover_scan, leaves_a_living_process_alone)
{
	char process[512];

	make_process(getpid(), now_ns(), process, sizeof(process));
	cr_expect_eq(scan(process), 0);
	cr_expect_eq(found.processes.n, 0);
	cr_expect_eq(found.n_busy, 1);
	cr_expect_eq(scan(run), 0);
	cr_expect_eq(found.runs.n, 0);
	cr_expect_eq(found.n_busy, 2);
	make_process(ended_process(), 1, process, sizeof(process));
	cr_expect_eq(scan(run), 0);
	cr_expect_eq(found.runs.n, 1);
}

Test(recover_scan, knows_a_pid_that_was_given_out_again)
{
	char process[512];

	make_process(getpid(), 1, process, sizeof(process)); /* long before this one began */
	cr_expect_eq(scan(process), 0);
	cr_expect_eq(found.processes.n, 1);
	cr_expect_eq(found.n_busy, 0);
}

Test(recover_scan, leaves_a_run_in_use_alone)
{
	struct cm_run_folder folder;
	struct cm_diag diag = {0};
	char process[512];

	make_process(ended_process(), 1, process, sizeof(process));
	cr_assert_eq(cm_run_folder_open(&folder, run, 2, &diag), 0, "%s", diag.text);
	cr_expect_eq(scan(base), 0);
	cr_expect_eq(found.runs.n, 0);
	cr_expect_eq(found.n_busy, 1);
	cm_run_folder_close(&folder, false);
	cr_expect_eq(scan(base), 0);
	cr_expect_eq(found.runs.n, 1);
}

Test(recover_scan, refuses_what_others_may_write)
{
	char process[512];

	make_process(ended_process(), 1, process, sizeof(process));
	cr_assert_eq(chmod(run, 0777), 0);
	cr_expect_eq(scan(base), -EPERM);
	cr_expect_eq(scan(run), -EPERM);
	cr_assert_eq(chmod(process, 0770), 0);
	cr_expect_eq(scan(process), -EPERM);
	cr_expect_eq(found.runs.n + found.processes.n, 0);
}
