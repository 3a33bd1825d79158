/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark-own N: a program with LIKWID markers of its own. N times its region `own`, with two calls of
 * callee_add in it, and N calls of callee_call with its region `below` in each.
 */
#define LIKWID_PERFMON
#include <likwid-marker.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

static void open_below(void *arg)
{
	LIKWID_MARKER_START("below");
	++*(long *)arg;
	LIKWID_MARKER_STOP("below");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, sum = 0;

	LIKWID_MARKER_INIT;
	LIKWID_MARKER_THREADINIT;
	LIKWID_MARKER_REGISTER("own");
	for (long i = 0; i < n; i++) {
		LIKWID_MARKER_START("own");
		sum += callee_add(1, 1);
		sum += callee_add(1, 1);
		LIKWID_MARKER_STOP("own");
	}
	for (long i = 0; i < n; i++)
		callee_call(open_below, &sum);
	LIKWID_MARKER_CLOSE;
	sum += callee_add(1, 1); /* after its close, not after ours */
	printf("%ld\n", sum);
	return 6;
}
