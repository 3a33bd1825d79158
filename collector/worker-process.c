/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/worker-process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 10
#define GRACE_S 2.0
#define CHILDREN_S 5u
#define MAX_PIECES 256

/* The parent's side of a running process. */
struct running {
	const struct cm_worker_process *process;
	struct cm_worker_diagnostics *diagnostics;
	pid_t pid;
	int output; /* reading end of its stdout and stderr; not blocking */
	double started_s;
	double killed_s; /* when SIGTERM was sent; 0: not yet */
	bool has_terminal;
	bool is_cancelled;
};

static double now_s(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* valid arguments */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void give_terminal(pid_t group)
{
	void (*saved)(int) = signal(SIGTTOU, SIG_IGN); /* else we would be stopped */

	(void)tcsetpgrp(STDIN_FILENO, group); /* refused: it reads when it may */
	(void)signal(SIGTTOU, saved);
}

/* Does not return. Only what is safe after fork, in case that somebody has threads after all. */
static void run_child(const struct cm_worker_process *process, int output, bool gets_terminal)
{
	char numbers[5][12];
	char *argv[] = {(char *)process->helper, numbers[0], numbers[1], NULL, NULL, NULL, NULL};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int error, fds[5] = {process->request_fd, process->reply_fd, -1, -1, -1};
	sigset_t none;

	(void)setpgid(0, 0); /* also done by the parent: whoever is first */
	if (gets_terminal)
		give_terminal(getpid());
	if (!process->is_command) {
		(void)sigemptyset(&none); /* valid */
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
	}
	for (int i = 0; i < 3 && process->is_command; i++) {
		fds[2 + i] = fcntl(i, F_DUPFD, 3);
		argv[3 + i] = numbers[2 + i];
	}
	for (int i = 0; i < 5 && fds[i] >= 0; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%d", fds[i]);
		(void)fcntl(fds[i], F_SETFD, 0); /* it is open */
	}
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
	    dup2(output, STDERR_FILENO) >= 0 && (!process->folder || chdir(process->folder) == 0))
		execv(process->helper, argv);
	error = errno;
	dprintf(STDERR_FILENO, "%s or its folder %s: %s\n", process->helper,
		process->folder ? process->folder : ".", strerror(error));
	_exit(127);
}

static void keep(struct cm_worker_diagnostics *to, const char *piece, size_t n)
{
	size_t n_old = to->n_tail;

	if (n_old + n > CM_WORKER_TAIL_BYTES)
		n_old = CM_WORKER_TAIL_BYTES - n;
	memmove(to->tail, to->tail + to->n_tail - n_old, n_old);
	memcpy(to->tail + n_old, piece, n);
	to->n_tail = n_old + n;
	to->tail[to->n_tail] = '\0';
}

/* What is there now; the end of it is kept. Not for ever: who floods us has a deadline, too. */
static void drain(struct running *running)
{
	char piece[CM_WORKER_TAIL_BYTES];

	for (int i = 0; i < MAX_PIECES; i++) {
		ssize_t n = read(running->output, piece, sizeof(piece));

		if (n == 0 || (n < 0 && errno != EINTR))
			return;
		if (n > 0)
			keep(running->diagnostics, piece, (size_t)n);
	}
}

/* The deadline, and what follows it. */
static void enforce(struct running *running)
{
	const struct cm_worker_process *process = running->process;
	double now = now_s();

	if (running->killed_s > 0) {
		if (now - running->killed_s >= GRACE_S)
			(void)kill(-running->pid, SIGKILL); /* gone meanwhile: good */
		return;
	}
	running->is_cancelled = process->is_cancelled && *process->is_cancelled;
	running->diagnostics->is_timed_out =
		!running->is_cancelled && now - running->started_s >= process->timeout_s;
	if (!running->is_cancelled && !running->diagnostics->is_timed_out)
		return;
	running->killed_s = now;
	(void)kill(-running->pid, SIGTERM);
	(void)kill(-running->pid, SIGCONT); /* a stopped one takes it only then */
}

static void wait_for_end(struct running *running)
{
	int *status = &running->diagnostics->wait_status;

	for (;;) {
		struct pollfd output = {.fd = running->output, .events = POLLIN};
		pid_t got = waitpid(running->pid, status, WNOHANG | WUNTRACED);

		if (got == running->pid && !WIFSTOPPED(*status))
			return;
		/* Nobody would continue it: we are no shell. Reading the terminal ends in time. */
		if (got == running->pid && WSTOPSIG(*status) != SIGTTIN &&
		    WSTOPSIG(*status) != SIGTTOU)
			(void)kill(-running->pid, SIGCONT);
		if (got < 0 && errno != EINTR) {
			*status = 0x7f00; /* not ours any more: an exit with 127 */
			return;
		}
		enforce(running);
		/* Closed by the process: wait without it. */
		if (poll(&output, 1, WAIT_MS) > 0 && !(output.revents & POLLIN))
			(void)poll(NULL, 0, WAIT_MS);
		drain(running);
	}
}

/* Field 4 of /proc/<pid>/stat, after the name in parentheses. */
static pid_t read_parent(const char *pid)
{
	char path[64], text[512], *end;
	FILE *in;
	size_t n = 0;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	in = fopen(path, "re");
	if (in) {
		n = fread(text, 1, sizeof(text) - 1, in);
		fclose(in);
	}
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

static void signal_children(void)
{
	char path[64], pid[24];
	FILE *in;

	/* The kernel's own list, of our only thread. */
	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	in = fopen(path, "re");
	while (in && fscanf(in, "%20s", pid) == 1) {
		if (read_parent(pid) == getpid())
			(void)kill((pid_t)atol(pid), SIGKILL); /* LIKWID's daemon may refuse */
	}
	if (in)
		fclose(in);
}

void cm_worker_process_kill_children(unsigned int seconds)
{
	double end = now_s() + seconds;

	for (;;) {
		pid_t got = waitpid(-1, NULL, WNOHANG);

		if (got > 0 || (got < 0 && errno == EINTR))
			continue;
		if (got < 0 || now_s() >= end)
			return;
		signal_children();
		(void)poll(NULL, 0, 1);
	}
}

static int start(struct running *running, struct cm_diag *diag)
{
	int output[2];

	if (pipe2(output, O_CLOEXEC) < 0)
		return cm_diag_set(diag, -errno, "no pipe: %s", strerror(errno));
	(void)fcntl(output[0], F_SETFL, O_NONBLOCK); /* it is a pipe */
	running->has_terminal =
		running->process->is_command && tcgetpgrp(STDIN_FILENO) == getpgrp();
	running->started_s = now_s();
	running->pid = fork();
	if (running->pid == 0)
		run_child(running->process, output[1], running->has_terminal);
	close(output[1]);
	running->output = output[0];
	if (running->pid < 0) {
		int rc = -errno;

		close(output[0]);
		return cm_diag_set(diag, rc, "no process: %s", strerror(-rc));
	}
	(void)setpgid(running->pid, running->pid); /* as in the child */
	running->diagnostics->pid = running->pid;
	return 0;
}

void cm_worker_fill_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int cm_worker_process_run(const struct cm_worker_process *process,
			  struct cm_worker_diagnostics *diagnostics, struct cm_diag *diag)
{
	struct running running = {.process = process, .diagnostics = diagnostics};
	struct sigaction ours = {.sa_handler = SIG_DFL}, saved;
	int was_subreaper = 0, rc;

	/* Ignored, it would take the status away from us. */
	if (sigaction(SIGCHLD, &ours, &saved) < 0)
		return -errno;
	(void)prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper); /* since Linux 3.4 */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	rc = start(&running, diag);
	if (rc == 0) {
		wait_for_end(&running);
		diagnostics->elapsed_s = now_s() - running.started_s;
		if (running.has_terminal)
			give_terminal(getpgrp());
		(void)kill(-running.pid, SIGKILL); /* what is left of its group */
		cm_worker_process_kill_children(CHILDREN_S);
		drain(&running);
		close(running.output);
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, was_subreaper);
	(void)sigaction(SIGCHLD, &saved, NULL); /* it was valid */
	return rc == 0 && running.is_cancelled ? -EINTR : rc;
}
