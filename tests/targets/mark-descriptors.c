/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark-descriptors FOLDER N [SHIFT]: N calls of callee_add, then every descriptor from 3 up is
 * closed and its number taken by a file, a socket or a pipe of the program's own; N calls of
 * callee_errno. Not a byte may arrive in any of them: prints how many have. SHIFT 0, 1, 2: which
 * number is what.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/targets/callee.h"

#define MAX_FDS 700 /* with those that are out of the way of most programs */
#define N_LEFT 20   /* for whoever else needs one: a process without any cannot even be profiled */

static int file = -1;
static int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
static int last_fd;

static int open_own(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/file", folder);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	return file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) || pipe(pipes);
}

/* One after the other: whatever LIKWID's numbers are, some are files, some sockets, some pipes. */
static int take_all(int shift)
{
	int own[] = {file, sockets[0], pipes[1]};

	for (int fd = pipes[1] + 1; fd <= last_fd; fd++)
		if (dup2(own[(fd + shift) % 3], fd) < 0)
			return 1;
	return 0;
}

static long count_bytes(void)
{
	struct stat st;
	int n_socket = -1, n_pipe = -1;

	if (fstat(file, &st) || ioctl(sockets[1], FIONREAD, &n_socket) ||
	    ioctl(pipes[0], FIONREAD, &n_pipe))
		return -1;
	return st.st_size + n_socket + n_pipe;
}

static int count_open(void)
{
	int n = 0;

	for (int fd = 0; fd <= last_fd; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0, sum = 0;
	long limit = sysconf(_SC_OPEN_MAX);
	int shift = argc > 3 ? atoi(argv[3]) : 0;

	last_fd = limit > 0 && limit <= MAX_FDS ? (int)limit - N_LEFT : MAX_FDS;
	for (long i = 0; i < n; i++)
		sum += callee_add((int)i, 1);
	for (int fd = 3; fd < last_fd + N_LEFT; fd++)
		(void)close(fd); /* most are not open */
	if (argc < 3 || open_own(argv[1]) || take_all(shift))
		return 1;
	for (long i = 0; i < n; i++)
		sum += callee_errno(0);
	printf("%ld, %d open, %ld bytes\n", sum, count_open(), count_bytes());
	return count_bytes() ? 1 : 5;
}
