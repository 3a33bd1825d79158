/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life spawn N PROGRAM ARGS..: N calls of callee_add, posix_spawn and wait, N more.
 * life system N COMMAND: the same with system().
 * life daemon N FILE: N calls, then daemon(3); N more there half a second later, and what it
 * counted goes to FILE. life chain N LEFT: N calls, then the same program again in this process,
 * LEFT times. life unset|rewrite|clear N PROGRAM ARGS..: N calls, then a child with LD_PRELOAD
 * unset, with another library put before it, or with no environment at all; N more.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/targets/callee.h"

extern char **environ;

static long add(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)(i % 10), 1);
	return sum;
}

static int spawn(char **program)
{
	pid_t pid;
	int status;

	if (posix_spawn(&pid, program[0], NULL, NULL, program, environ))
		return -1;
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int run_daemon(long n, const char *path)
{
	FILE *file;
	long sum;

	if (daemon(1, 0))
		return 1;
	(void)usleep(500000); /* `run` has ended by then */
	sum = add(n);
	file = fopen(path, "w");
	if (!file)
		return 1;
	fprintf(file, "%ld\n", sum);
	return fclose(file) != 0;
}

static int chain(char **argv)
{
	char left[24];
	long n_left = atol(argv[3]);

	if (!n_left)
		return 6;
	snprintf(left, sizeof(left), "%ld", n_left - 1);
	argv[3] = left;
	execv(argv[0], argv);
	return 127;
}

/* Another library first, which needs nothing and does nothing. */
static int rewrite(void)
{
	const char *old = getenv("LD_PRELOAD");
	char list[4096];

	snprintf(list, sizeof(list), "libm.so.6%s%s", old ? ":" : "", old ? old : "");
	return setenv("LD_PRELOAD", list, 1);
}

int main(int argc, char **argv)
{
	static char *none[] = {NULL};
	const char *how = argc > 3 ? argv[1] : "";
	long n = argc > 3 ? atol(argv[2]) : 0;
	long sum = add(n);
	int status;

	printf("%ld\n", sum);
	fflush(stdout);
	if (!strcmp(how, "daemon"))
		return run_daemon(n, argv[3]);
	if (!strcmp(how, "chain"))
		return chain(argv);
	if (!strcmp(how, "system")) {
		status = system(argv[3]);
	} else {
		if ((!strcmp(how, "unset") && unsetenv("LD_PRELOAD")) ||
		    (!strcmp(how, "rewrite") && rewrite()))
			return 1;
		if (!strcmp(how, "clear"))
			environ = none;
		status = spawn(argv + 3);
	}
	printf("%ld, child status %d\n", add(n), status);
	return 0;
}
