/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A function without free memory in reach of a jump: the program begins at the lowest address that
 * there is, and more than 2 GiB of data lie above.
 */
#include <stdio.h>

static char data[(size_t)2200 << 20];

__attribute__((noinline)) static int out_of_reach(int n)
{
	data[n] += 1;
	return data[n] + n;
}

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", out_of_reach(argc) + out_of_reach(argc));
	return 0;
}
