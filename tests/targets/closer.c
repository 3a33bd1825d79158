/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * closer N: N calls, then closes every descriptor from 3 up, as daemons do, and lists those that
 * were open; N more calls, and the list of open descriptors again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/targets/callee.h"

static void list_descriptors(void)
{
	printf("open:");
	for (int fd = 0; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += callee_add(1, 1);
	list_descriptors();
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd); /* most are not open */
	for (long i = 0; i < n; i++)
		sum += callee_add(1, 1);
	list_descriptors();
	printf("%ld\n", sum);
	return 0;
}
