/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker object that does what WORKER_CASE says, and appends the name of each of its functions
 * that is called to WORKER_LOG. Its result is the number 42.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callmark/worker.h>

static int answer;
static char state_text[] = "state";

static bool is_case(const char *name)
{
	const char *wanted = getenv("WORKER_CASE");

	return wanted && !strcmp(wanted, name);
}

static void note(const char *text)
{
	const char *path = getenv("WORKER_LOG");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd >= 0) {
		dprintf(fd, "%s\n", text);
		close(fd);
	}
}

/* The memory file through which the result goes: a hostile worker finds it. */
static int find_reply(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char path[64], target[64];
	int found = -1;

	while (dir && (entry = readdir(dir))) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", entry->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		if (!strncmp(target, "/memfd:callmark-reply", 21))
			found = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void spoil(const char *text, size_t n_times)
{
	int reply = find_reply();

	for (size_t i = 0; i < n_times; i++) {
		if (pwrite(reply, text, strlen(text), (off_t)(8 + i * strlen(text))) < 0)
			note("cannot write");
	}
	_exit(0);
}

/* After callmark-worker has written its own. */
__attribute__((destructor)) static void at_end(void)
{
	int reply = find_reply();
	char text[65536] = {0}, *found;
	ssize_t n;

	if (is_case("half"))
		(void)!ftruncate(reply, 200);
	if (is_case("destructor_crashes"))
		abort();
	if (!is_case("forges_value") && !is_case("forges_cpu"))
		return;
	n = pread(reply, text, sizeof(text) - 1, 8);
	found = n > 0 ? strstr(text, "[1000.0") : NULL;
	if (found && is_case("forges_value"))
		memcpy(found, "[1e9999", 7);
	else if (found)
		memcpy(found, "[10,0.0", 7); /* one value too many */
	(void)!pwrite(reply, text, (size_t)n, 8);
}

__attribute__((constructor)) static void at_load(void)
{
	note("loaded");
	if (is_case("constructor_crashes"))
		abort();
}

int perf_setup(void **ret_state)
{
	char cwd[4096];

	note("perf_setup");
	if (is_case("cwd") && getcwd(cwd, sizeof(cwd)))
		note(cwd);
	if (is_case("setup_crashes"))
		raise(SIGSEGV);
	*ret_state = state_text;
	return is_case("setup_fails") ? -5 : 0;
}

static void ignore_term(int sig)
{
	(void)sig;
	note("asked to end");
}

/* One in the group that ignores SIGTERM, and one that has left it. */
static void leave_children(void)
{
	char text[32];

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (i)
				setsid();
			signal(SIGTERM, SIG_IGN);
			/* Once more, so that nobody here is its parent. */
			child = fork();
			if (child)
				_exit(0);
			snprintf(text, sizeof(text), "child %d", (int)getpid());
			note(text);
			for (;;)
				pause();
		}
	}
	usleep(100000);
}

static void print_much(void)
{
	for (int i = 0; i < 1000; i++)
		fprintf(stderr, "line %d of the worker\n", i);
	fputs("the last line", stderr);
}

int perf_workload(void *state, void **ret_result)
{
	note("perf_workload");
	if (state != state_text)
		return 99;
	answer = 42;
	*ret_result = &answer;
	if (is_case("workload_crashes"))
		raise(SIGSEGV);
	if (is_case("ignores_term"))
		signal(SIGTERM, ignore_term);
	if (is_case("hangs") || is_case("ignores_term"))
		for (;;)
			pause();
	while (is_case("floods"))
		fputs("more and more of it, and no end\n", stderr);
	if (is_case("grandchildren"))
		leave_children();
	if (is_case("exits_0"))
		exit(0);
	if (is_case("exits_3"))
		exit(3);
	if (is_case("prints"))
		printf("{\"callmark_worker\": 1}\n\x01\xff garbage\n");
	if (is_case("garbage"))
		spoil("this is no JSON", 1);
	if (is_case("empty_object"))
		spoil("{}", 1);
	if (is_case("fills"))
		spoil("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 300000);
	if (is_case("prints_much")) {
		print_much();
		return 1;
	}
	return is_case("workload_fails") ? 7 : 0;
}

int perf_synchronize(void *state, void *result)
{
	(void)state;
	note("perf_synchronize");
	return is_case("synchronize_fails") || result != &answer ? 8 : 0;
}

int perf_cleanup(void *state)
{
	note("perf_cleanup");
	if (is_case("cleanup_crashes"))
		raise(SIGSEGV);
	return is_case("cleanup_fails") || state != state_text ? 9 : 0;
}

CM_WORKER_EXPORT int holds(void *state);
CM_WORKER_EXPORT int misses(void *state);
CM_WORKER_EXPORT int is_answer(void *state, void *result);
CM_WORKER_EXPORT int is_wrong(void *state, void *result);

int holds(void *state)
{
	note("holds");
	return state == state_text ? 0 : 1;
}

int misses(void *state)
{
	(void)state;
	note("misses");
	return 1;
}

int is_answer(void *state, void *result)
{
	note("is_answer");
	return state == state_text && result == &answer && answer == 42 ? 0 : 1;
}

int is_wrong(void *state, void *result)
{
	(void)state;
	(void)result;
	note("is_wrong");
	return 6;
}
