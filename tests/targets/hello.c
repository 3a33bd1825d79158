/* SPDX-License-Identifier: BSD-3-Clause */
/* hello [STATUS]: says so and returns STATUS. Linked statically: nothing can be preloaded. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	puts("hello");
	return argc > 1 ? atoi(argv[1]) : 0;
}
