/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark-process HOW N [PLUGIN]: N calls of callee_add in a process that LIKWID's children, exit
 * handlers and connections could disturb.
 *
 *	wait	then waits until no child is left
 *	end	lines from an atexit handler, a destructor, and unflushed from main
 *	exit	a child makes 2 N calls of its own and exits; N more in the parent
 *	_exit	the same, the child leaves by _exit
 *	clear	in an environment that is cleared before
 *	kill	then the access daemon below this process dies (there is none in a bare run), and N
 *		calls of callee_errno follow
 *	load	after PLUGIN was loaded: N calls within one of plugin_work; unflushed lines
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static int says_end;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

static void at_exit(void)
{
	if (says_end)
		say("atexit handler\n");
}

__attribute__((destructor)) static void at_end(void)
{
	if (says_end)
		say("destructor\n");
}

static long add(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)i, 1);
	return sum;
}

static void wait_for_all(void)
{
	int n = 0;

	while (wait(NULL) > 0)
		n++;
	printf("%d children, then %s\n", n, strerror(errno));
}

static int fork_child(const char *how, long n)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		long sum = add(2 * n);

		if (!strcmp(how, "exit"))
			exit(sum % 100);
		_exit((int)(sum % 100));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	printf("child: %d\n", WEXITSTATUS(status));
	return 0;
}

/* Parent of a process and whether it is an access daemon; 0: it is gone. */
static int read_stat(int pid, int *ret_is_daemon)
{
	char path[64], text[512];
	FILE *file;
	size_t n;
	char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	end = strrchr(text, ')');
	*ret_is_daemon = strstr(text, "(likwid-accessD)") != NULL;
	return end ? atoi(end + 4) : 0;
}

static int is_below_us(int pid)
{
	int unused;

	while (pid > 1 && pid != getpid())
		pid = read_stat(pid, &unused);
	return pid == getpid();
}

static void kill_daemons(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
		int is_daemon = 0;

		if (pid && read_stat(pid, &is_daemon) && is_daemon && is_below_us(pid))
			(void)kill(pid, SIGKILL); /* it may just have gone */
	}
	if (dir)
		closedir(dir);
	(void)usleep(20000); /* until its socket is closed; if not yet, then later */
}

static int load(const char *path, long n)
{
	long (*plugin_work)(long);
	void *handle;

	printf("before\n");
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	plugin_work = handle ? (long (*)(long))dlsym(handle, "plugin_work") : NULL;
	if (!plugin_work)
		return 1;
	printf("%ld\n", plugin_work(n));
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;
	int rc = 0;

	if (!strcmp(how, "clear") && clearenv())
		return 1;
	says_end = !strcmp(how, "end");
	if (says_end && atexit(at_exit))
		return 1;
	if (!strcmp(how, "load"))
		return argc > 3 ? load(argv[3], n) : 2;
	printf("%ld\n", add(n));
	if (!strcmp(how, "wait"))
		wait_for_all();
	if (strstr(how, "exit")) {
		fflush(stdout);
		rc = fork_child(how, n);
		printf("%ld\n", add(n));
	}
	if (!strcmp(how, "kill")) {
		kill_daemons();
		errno = 0;
		for (long i = 0; i < n; i++)
			rc += callee_errno(0);
	}
	return rc ? rc : 4;
}
