/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sigchld N [ignore]: a SIGCHLD handler reaps whatever waitpid(-1) finds, and says so with
 * write(2), while N calls are made and one child of our own ends; until the last moment of the
 * process. With ignore the disposition is SIG_IGN. A child that is not ours would be seen.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static volatile sig_atomic_t n_own;
static volatile pid_t own;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(9);
}

static void on_child(int signal)
{
	int saved = errno;
	pid_t pid;

	(void)signal;
	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
		if (pid == own)
			n_own++;
		else
			say("reaped a stranger\n");
	}
	errno = saved;
}

static void at_exit(void)
{
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		say("children at exit\n");
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_child};
	sigset_t child_set;
	long sum = 0;

	if (argc > 2)
		action.sa_handler = SIG_IGN;
	if (argc < 2 || sigaction(SIGCHLD, &action, NULL) || atexit(at_exit))
		return 2;
	for (long i = 0; i < atol(argv[1]); i++)
		sum += callee_add(1, 1);
	sigemptyset(&child_set);
	sigaddset(&child_set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_set, NULL); /* until `own` is known */
	own = fork();
	if (own == 0)
		_exit(0);
	sigprocmask(SIG_UNBLOCK, &child_set, NULL);
	if (argc > 2)
		(void)waitpid(own, NULL, 0); /* ECHILD once it has ended: that is the point */
	while (argc < 3 && !n_own)
		(void)usleep(1000);
	printf("%ld, %d own\n", sum, (int)n_own);
	return 0;
}
