/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. fork and exec, as the descriptors of LIKWID must be closed in between. */
#include "collector/worker-command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* fn(fd) for each open descriptor from 3 on. */
static int for_each_fd(int (*fn)(void *ctx, int fd), void *ctx)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int rc = dir ? 0 : -errno;

	while (rc == 0 && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(dir))
			rc = fn(ctx, fd);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int note_fd(void *ctx, int fd)
{
	struct cm_worker_streams *streams = ctx;
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0 || (flags & FD_CLOEXEC))
		return 0;
	if (streams->n_others == CM_STREAMS_MAX_FDS)
		return -ENFILE;
	streams->others[streams->n_others++] = fd;
	return 0;
}

int cm_worker_streams_init(struct cm_worker_streams *streams, const int *fds)
{
	streams->n_others = 0;
	for (size_t i = 0; i < 3; i++)
		streams->fds[i] = fds[i];
	return for_each_fd(note_fd, streams);
}

static int hide_fd(void *ctx, int fd)
{
	const struct cm_worker_streams *streams = ctx;

	for (size_t i = 0; i < streams->n_others; i++) {
		if (streams->others[i] == fd)
			return 0;
	}
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* it is open */
	return 0;
}

/* Does not return; what went wrong goes to `report`. */
static void run_child(const struct cm_worker_command *command, int report)
{
	const struct cm_worker_streams *streams = command->streams;
	int error;

	(void)signal(SIGINT, SIG_DFL); /* ignored only in our own process */
	(void)signal(SIGQUIT, SIG_DFL);
	(void)for_each_fd(hide_fd, (void *)streams); /* one more descriptor does no harm */
	if (dup2(streams->fds[0], STDIN_FILENO) >= 0 && dup2(streams->fds[1], STDOUT_FILENO) >= 0 &&
	    dup2(streams->fds[2], STDERR_FILENO) >= 0)
		execvp(command->argv[0], (char *const *)command->argv);
	error = errno;
	(void)!write(report, &error, sizeof(error)); /* nobody is left to be told */
	_exit(error == ENOENT ? 127 : 126);
}

static int explain(struct cm_worker_command *command, int status, int error)
{
	const char *name = command->argv[0];

	if (error) {
		cm_diag_set(&command->diag, 0, "%s cannot be run: %s", name, strerror(error));
		return error == ENOENT ? 127 : 126;
	}
	if (WIFSIGNALED(status)) {
		cm_diag_set(&command->diag, 0, "%s was ended by signal %d (%s)", name,
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	if (WEXITSTATUS(status))
		cm_diag_set(&command->diag, 0, "%s ended with status %d", name,
			    WEXITSTATUS(status));
	return WEXITSTATUS(status);
}

int cm_worker_command_run(struct cm_worker_command *command)
{
	int report[2], error = 0, status = 0;
	pid_t child, got;

	if (pipe2(report, O_CLOEXEC) < 0)
		return explain(command, 0, errno);
	child = fork();
	if (child == 0)
		run_child(command, report[1]);
	error = child < 0 ? errno : 0;
	close(report[1]);
	/* Ends with the exec. */
	while (child > 0 && read(report[0], &error, sizeof(error)) < 0 && errno == EINTR)
		;
	close(report[0]);
	do {
		got = child > 0 ? waitpid(child, &status, 0) : 0;
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		error = errno;
	return explain(command, status, error);
}
