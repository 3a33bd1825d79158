/* SPDX-License-Identifier: BSD-3-Clause */
/* Fork, exec, forward signals, wait. */
#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"

static const int taken_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
				    SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};

static void fill_taken(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(taken_signals) / sizeof(taken_signals[0]); i++)
		sigaddset(set, taken_signals[i]);
}

/* A SIGCHLD that is ignored would make the kernel throw the status away. */
void cm_supervise_init(struct cm_supervise *supervise)
{
	struct sigaction defaults = {.sa_handler = SIG_DFL};
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t taken;

	fill_taken(&taken);
	sigprocmask(SIG_BLOCK, &taken, &supervise->old_mask);
	sigaction(SIGCHLD, &defaults, &supervise->old_child);
	sigaction(SIGPIPE, &ignore, &supervise->old_pipe);
}

void cm_supervise_fini(const struct cm_supervise *supervise)
{
	sigaction(SIGPIPE, &supervise->old_pipe, NULL);
	sigaction(SIGCHLD, &supervise->old_child, NULL);
	sigprocmask(SIG_SETMASK, &supervise->old_mask, NULL);
}

static int close_stdio(int output_fd)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 ||
	    dup2(output_fd > 0 ? output_fd : fd, STDOUT_FILENO) < 0)
		return -errno;
	if (output_fd > 0 && dup2(output_fd, STDERR_FILENO) < 0)
		return -errno;
	return 0;
}

/* The parent may have ended before the child asked. */
static int die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

/* What execvp does with a file that the kernel does not know. */
static void execute_text(const struct cm_start *start)
{
	size_t n = 0;
	char **argv;

	while (start->argv[n])
		n++;
	argv = calloc(n + 3, sizeof(argv[0]));
	if (!argv)
		return;
	argv[0] = (char[]){"/bin/sh"};
	argv[1] = (char *)(uintptr_t)start->path; /* exec does not write to it */
	for (size_t i = 1; i < n; i++)
		argv[i + 1] = start->argv[i];
	execve(argv[0], argv, start->envp);
	free(argv);
}

static _Noreturn void be_child(const struct cm_supervise *supervise, const struct cm_start *start,
			       pid_t parent, int report)
{
	int error = 0;

	if (start->new_session)
		(void)setsid(); /* fails only for a group leader: then it has its own already */
	if (start->no_stdio)
		error = close_stdio(start->output_fd);
	if (!error && start->dies_with_us)
		error = die_with(parent);
	if (start->cpus) /* else it runs where we do, and its markers say so */
		(void)sched_setaffinity(0, sizeof(*start->cpus), start->cpus);
	if (start->pid_text)
		snprintf(start->pid_text, CM_PID_TEXT_BYTES, "%d", (int)getpid());
	cm_supervise_fini(supervise);
	if (!error) {
		execve(start->path, start->argv, start->envp);
		error = -errno;
		if (error == -ENOEXEC && start->is_text) {
			execute_text(start);
			error = -errno;
		}
	}
	(void)!write(report, &error, sizeof(error)); /* the status says the same, less exactly */
	_exit(CM_EXIT_CANNOT_RUN);
}

int cm_supervise_start(const struct cm_supervise *supervise, const struct cm_start *start,
		       pid_t *ret_pid)
{
	pid_t parent = getpid();
	int report[2];
	int error = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0)
		error = -errno;
	if (pid == 0)
		be_child(supervise, start, parent, report[1]);
	close(report[1]);
	/* The pipe closes when exec has worked, and when the child was killed before it. */
	do
		n = pid < 0 ? 0 : read(report[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (pid > 0 && n == (ssize_t)sizeof(error))
		(void)waitpid(pid, NULL, 0); /* it has nothing more to say */
	if (error < 0)
		return error;
	*ret_pid = pid;
	return 0;
}

/* Let the shell see us stopped by the same signal; returns when we were continued. */
static void stop_too(int sig)
{
	struct sigaction defaults = {.sa_handler = SIG_DFL};
	struct sigaction old;
	struct timespec now = {0};
	sigset_t one, set;

	sigemptyset(&one);
	sigaddset(&one, sig);
	sigaction(sig, &defaults, &old);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* stops here */
	sigprocmask(SIG_BLOCK, &one, NULL);
	sigaction(sig, &old, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	(void)sigtimedwait(&set, NULL, &now); /* the one that woke us; the caller passes it on */
}

static void follow_stop(pid_t pid, int sig)
{
	siginfo_t info = {0};

	/* SIGSTOP is somebody's tool for this one process, not the terminal's. */
	if (sig != SIGTSTP && sig != SIGTTIN && sig != SIGTTOU)
		return;
	stop_too(sig);
	/* Where the shell continued the whole group, it runs already. */
	if (waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOHANG) || !info.si_pid)
		kill(pid, SIGCONT);
}

static void forward(pid_t pid, const siginfo_t *info)
{
	/* From the kernel (terminal): the program has it. From the program: it knows. */
	if (info->si_code > 0 || info->si_pid == pid)
		return;
	/* No SIGCHLD of ours means anything to it; it may have ended: ESRCH does not matter. */
	if (info->si_signo != SIGCHLD)
		(void)kill(pid, info->si_signo);
}

int cm_supervise_wait(pid_t pid, int *ret_status)
{
	sigset_t taken;

	fill_taken(&taken);
	for (;;) {
		siginfo_t info = {0};
		int status;
		pid_t rc = waitpid(pid, &status, WNOHANG | WUNTRACED);

		if (rc < 0 && errno != EINTR)
			return -errno;
		if (rc == pid && WIFSTOPPED(status)) {
			follow_stop(pid, WSTOPSIG(status));
			continue;
		}
		if (rc == pid) {
			*ret_status = status;
			return 0;
		}
		if (sigwaitinfo(&taken, &info) > 0)
			forward(pid, &info);
	}
}

int cm_supervise_exit_status(int status)
{
	return WIFSIGNALED(status) ? CM_EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
