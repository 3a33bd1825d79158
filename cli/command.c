/* SPDX-License-Identifier: BSD-3-Clause */
/* Run a program, wait with a time limit, keep its output. */
#include "cli/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

#define MAX_OUTPUT_BYTES (1u << 20)
#define POLL_NS 100000000 /* how soon a signal to us is noticed */

/* Would unblocking end us? */
static bool must_end(void)
{
	static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
	struct sigaction action;
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (sigismember(&pending, ending[i]) == 1 && !sigaction(ending[i], NULL, &action) &&
		    action.sa_handler == SIG_DFL)
			return true;
	return false;
}

static double now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Until it has ended; it stays a zombie, so that its process group cannot become another's. */
static int wait_for(pid_t pid, unsigned n_seconds, struct cm_progress *progress)
{
	const struct timespec step = {.tv_nsec = POLL_NS};
	double end = now_seconds() + n_seconds;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT))
			return -errno;
		if (info.si_pid)
			return 0;
		if (must_end())
			return -EINTR;
		if (now_seconds() > end)
			return -ETIMEDOUT;
		cm_progress_wait(progress);
		(void)sigtimedwait(&child, NULL, &step); /* whatever it says, we look again */
	}
}

static char *read_all(int fd)
{
	struct stat st;
	size_t n_wanted = fstat(fd, &st) || st.st_size < 0 ? 0 : (size_t)st.st_size;
	ssize_t n;
	char *text;

	if (n_wanted > MAX_OUTPUT_BYTES)
		n_wanted = MAX_OUTPUT_BYTES;
	text = malloc(n_wanted + 1);
	if (!text)
		return NULL;
	n = pread(fd, text, n_wanted, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

int cm_command_run(struct cm_command_output *output, const struct cm_supervise *supervise,
		   const struct cm_command *command)
{
	int fd = memfd_create("output", MFD_CLOEXEC);
	struct cm_start start = {.path = command->path,
				 .argv = command->argv,
				 .envp = command->envp,
				 .new_session = true,
				 .no_stdio = true,
				 .output_fd = fd,
				 .dies_with_us = true};
	struct cm_progress progress = {0};
	pid_t pid;
	int rc;

	memset(output, 0, sizeof(*output));
	if (fd < 0)
		return -errno;
	rc = cm_supervise_start(supervise, &start, &pid);
	if (rc < 0)
		goto out;
	if (command->progress)
		cm_progress_init(&progress, command->progress);
	rc = wait_for(pid, command->n_seconds, &progress);
	cm_progress_fini(&progress);
	(void)kill(-pid, SIGKILL); /* itself, where it did not end, and what it left */
	if (waitpid(pid, &output->status, 0) < 0 && !rc)
		rc = -errno;
	output->text = read_all(fd);
	if (!output->text)
		rc = -ENOMEM;
out:
	close(fd);
	return rc;
}

void cm_command_output_free(struct cm_command_output *output)
{
	free(output->text);
	output->text = NULL;
}
