/* SPDX-License-Identifier: BSD-3-Clause */
/* One at a time, whatever dies: writer/lock.h; and writer/tempfile.h. */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "writer/lock.h"
#include "writer/tempfile.h"

static char folder[] = "/tmp/callmark-lock-XXXXXX";
static char path[128];

static void setup(void)
{
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/out.h5", folder);
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_assert_eq(system(command), 0);
}

typedef int take_function(struct cm_lock *lock, const char *path, int timeout_ms,
			  struct cm_diag *diag);

/* Eight processes count together; without the lock some of the steps get lost. */
static void check_counting(take_function *take)
{
	volatile int *shared =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			for (int k = 0; k < 20; k++) {
				struct cm_lock lock;
				int seen;

				if (take(&lock, path, 20000, NULL) < 0)
					_exit(1);
				seen = shared[0];
				usleep(200);
				shared[0] = seen + 1;
				cm_lock_release(&lock);
			}
			_exit(0);
		}
	while (wait(&status) > 0)
		cr_assert_eq(status, 0);
	cr_assert_eq(shared[0], 160);
	cr_assert_eq(rmdir(folder), 0, "no lock file is left");
	cr_assert_eq(mkdir(folder, 0700), 0);
}

TestSuite(lock, .init = setup, .fini = teardown, .timeout = 60);

Test(lock, processes_take_turns)
{
	check_counting(cm_lock_take);
}

Test(lock, processes_take_turns_without_flock)
{
	check_counting(cm_lock_take_exclusive);
}

static void check_timeout(take_function *take)
{
	struct cm_lock first, second;
	struct cm_diag diag = {0};

	cr_assert_eq(take(&first, path, 0, NULL), 0);
	cr_assert_eq(take(&second, path, 50, &diag), -ETIMEDOUT);
	cr_assert(strstr(diag.text, ".out.h5.lock"), "%s", diag.text);
	cm_lock_release(&second);
	cm_lock_release(&first);
	cr_assert_eq(take(&second, path, 0, NULL), 0);
	cm_lock_release(&second);
}

Test(lock, waiting_ends)
{
	check_timeout(cm_lock_take);
}

Test(lock, waiting_ends_without_flock)
{
	check_timeout(cm_lock_take_exclusive);
}

static void check_killed_holder(take_function *take)
{
	struct cm_lock lock;
	int ready[2], status;
	char c;
	pid_t child;

	cr_assert_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (take(&lock, path, 0, NULL) == 0)
			(void)!write(ready[1], "x", 1);
		pause();
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	cr_assert_eq(take(&lock, path, 5000, NULL), 0);
	cm_lock_release(&lock);
}

Test(lock, a_killed_holder_holds_nothing)
{
	check_killed_holder(cm_lock_take);
}

Test(lock, a_killed_holder_holds_nothing_without_flock)
{
	check_killed_holder(cm_lock_take_exclusive);
}

Test(lock, a_folder_that_is_not_there_is_an_error_at_once)
{
	struct cm_lock lock;
	struct cm_diag diag = {0};

	cr_assert_eq(cm_lock_take(&lock, "/nonexistent/x.h5", 60000, &diag), -ENOENT);
	cr_assert_neq(diag.text[0], '\0');
	cm_lock_release(&lock);
}

Test(lock, a_temporary_file_appears_whole_or_not_at_all)
{
	struct cm_tempfile temp;
	struct stat st;

	umask(027);
	cr_assert_eq(cm_tempfile_open(&temp, path, NULL), 0);
	cr_assert_eq(write(temp.fd, "new", 3), 3);
	cr_assert_eq(access(path, F_OK), -1);
	cr_assert_eq(cm_tempfile_commit(&temp, NULL), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0640);
	cr_assert_eq(st.st_size, 3);
	cr_assert_eq(cm_tempfile_open(&temp, path, NULL), 0);
	cr_assert_eq(write(temp.fd, "longer", 6), 6);
	cm_tempfile_discard(&temp);
	cm_tempfile_discard(&temp);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_size, 3, "the old one stays");
	cr_assert_eq(access(temp.path, F_OK), -1);
}
