/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forks fork N: N calls, then a child makes 2 N and the parent N more.
 * forks exec N PROGRAM ARGS..: N calls, then a forked child executes PROGRAM; N more.
 * forks vfork N PROGRAM ARGS..: the same through vfork.
 * forks replace N PROGRAM ARGS..: N calls, then PROGRAM in this very process.
 * forks many N: N children, each making 10 calls, all at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static long add(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add((int)(i % 10), 1);
	return sum;
}

static int run_child(const char *how, long n, char **program)
{
	pid_t pid = strcmp(how, "vfork") ? fork() : vfork();
	int status;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		if (strcmp(how, "fork")) {
			execv(program[0], program);
			_exit(127);
		}
		exit(add(2 * n) == 0);
	}
	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int run_many(long n)
{
	int n_good = 0;
	int status;

	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			exit(add(10) != 55);
		if (pid < 0)
			return 1;
	}
	while (wait(&status) > 0)
		n_good += status == 0;
	printf("%d good children\n", n_good);
	return n_good != n;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;
	long sum;
	int status;

	if (!strcmp(how, "many"))
		return run_many(n);
	if (!*how || (argc < 4 && strcmp(how, "fork")))
		return 2;
	sum = add(n);
	if (!strcmp(how, "replace")) {
		printf("%ld, now %s\n", sum, argv[3]);
		fflush(stdout);
		execv(argv[3], argv + 3);
		return 127;
	}
	status = run_child(how, n, argv + 3);
	sum += add(n);
	printf("%ld, child status %d\n", sum, status);
	return 0;
}
