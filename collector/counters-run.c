/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "collector/counters-run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 20

/* The end of what came from stderr. */
struct tail {
	char text[1024];
	size_t n;
};

static long now_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* valid arguments */
	return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Everything that is there now, the newest kept. False: the other end is closed. */
static bool drain(int fd, struct tail *tail)
{
	char piece[sizeof(tail->text) / 2];

	for (;;) {
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		if (tail->n + (size_t)n > sizeof(tail->text)) {
			size_t n_kept = sizeof(tail->text) - (size_t)n;

			memmove(tail->text, tail->text + tail->n - n_kept, n_kept);
			tail->n = n_kept;
		}
		memcpy(tail->text + tail->n, piece, (size_t)n);
		tail->n += (size_t)n;
	}
}

/* The last line with anything to see in it. */
static void keep_line(const struct tail *tail, char *line, size_t n_bytes)
{
	size_t first, end = tail->n, n;

	while (end && (unsigned char)tail->text[end - 1] <= ' ')
		end--;
	for (first = end; first && tail->text[first - 1] != '\n';)
		first--;
	n = end - first < n_bytes ? end - first : n_bytes - 1;
	memcpy(line, tail->text + first, n);
	line[n] = '\0';
	for (char *p = line; n--; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	}
}

static int start(const struct cm_counters_run *run, int stderr_fd, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int error;

	sigemptyset(&none);
	sigfillset(&all);
	error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error)
		goto out_actions;
	/* These only note down what is to be done; valid arguments. */
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
							    POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setpgroup(&attributes, 0);
	(void)posix_spawnattr_setsigmask(&attributes, &none);
	(void)posix_spawnattr_setsigdefault(&attributes, &all);
	error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, stderr_fd, 2);
	if (!error)
		error = posix_spawn(ret_pid, run->argv[0], &actions, &attributes, run->argv,
				    run->envp);
	posix_spawnattr_destroy(&attributes);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Has it ended? It stays a zombie: until it is reaped, its group's number is nobody else's. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
		return errno != EINTR; /* somebody ignores SIGCHLD for us: it is gone */
	return info.si_pid == pid;
}

static void watch(struct cm_counters_run *run, pid_t pid, int stderr_fd)
{
	struct pollfd wait = {.fd = stderr_fd, .events = POLLIN};
	long end_ms = now_ms() + run->timeout_s * 1000L;
	struct tail tail = {.n = 0};
	pid_t got;

	while (!has_ended(pid)) {
		bool is_cancelled = atomic_load_explicit(&run->is_cancelled, memory_order_relaxed);

		if (is_cancelled || now_ms() >= end_ms) {
			run->is_timeout = true;
			break;
		}
		/* A closed stderr wakes us at once; without it the time does. */
		(void)poll(&wait, 1, WAIT_MS);
		if (wait.fd >= 0 && !drain(stderr_fd, &tail))
			wait.fd = -1;
	}
	(void)kill(-pid, SIGKILL); /* and whatever it has started; nobody left: good */
	do
		got = waitpid(pid, &run->wait_status, 0);
	while (got < 0 && errno == EINTR);
	(void)drain(stderr_fd, &tail); /* what is still in the pipe */
	keep_line(&tail, run->line, sizeof(run->line));
}

void cm_counters_run(struct cm_counters_run *run)
{
	int fds[2];
	pid_t pid;

	run->error = run->wait_status = 0;
	run->is_timeout = false;
	run->line[0] = '\0';
	if (pipe2(fds, O_CLOEXEC) < 0) {
		run->error = errno;
		return;
	}
	(void)fcntl(fds[0], F_SETFL, O_NONBLOCK); /* valid arguments */
	run->error = start(run, fds[1], &pid);
	close(fds[1]);
	if (!run->error)
		watch(run, pid, fds[0]);
	close(fds[0]);
}

const char *cm_counters_run_explain(const struct cm_counters_run *run, char *buf, size_t n_bytes)
{
	const char *colon = run->line[0] ? ": " : "";

	if (run->error)
		snprintf(buf, n_bytes, "%s cannot be started: %s", run->argv[0],
			 strerror(run->error));
	else if (run->is_timeout)
		snprintf(buf, n_bytes, "callmark-reader did not end within %u s%s%s",
			 run->timeout_s, colon, run->line);
	else if (WIFSIGNALED(run->wait_status))
		snprintf(buf, n_bytes, "callmark-reader ended by signal %d%s%s",
			 WTERMSIG(run->wait_status), colon, run->line);
	else if (run->line[0])
		snprintf(buf, n_bytes, "%s", run->line);
	else
		snprintf(buf, n_bytes, "callmark-reader ended with status %d and without a result",
			 WEXITSTATUS(run->wait_status));
	return buf;
}
