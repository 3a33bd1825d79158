/* SPDX-License-Identifier: BSD-3-Clause */
/* abi N: N rounds of every calling convention in callee.h; exit status 1 if one value is wrong. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/targets/callee.h"

static int n_wrong;

static void expect(int good, const char *what)
{
	if (!good) {
		n_wrong++;
		printf("wrong: %s\n", what);
	}
}

static void check_registers(long i)
{
	struct callee_large large = callee_fill_large(i);
	struct callee_pair pair = callee_fill_pair(i, 0.5 * (double)i);
	long double x = 1.0L + (long double)i / 3.0L;
	int large_good = 1;
	int before;

	expect(callee_variadic(1, 2, 3, 4, 5, 6, 10, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0,
			       256.0, 512.0) == 1 + 2 + 3 + 4 + 5 + 6 + 10 + 1023.0,
	       "variadic");
	for (int k = 0; k < 7; k++)
		large_good &= large.values[k] == i + k;
	expect(large_good, "large struct");
	expect(pair.integer == i && pair.real == 0.5 * (double)i, "struct in registers");
	expect(callee_long_double(x, 7, 0.25L) == x * 7 + 0.25L, "long double");

	errno = 77;
	before = callee_errno(88);
	expect(before == 77 && errno == 88, "errno");
	expect(callee_factorial(10) == 3628800, "recursion");
}

static void check_stack(long i)
{
	long sum = callee_sixty(i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
				19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
				36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52,
				53, 54, 55, 56, 57, 58, 59);

	/* sum of k * (k + 1) for k = 0..59 */
	expect(sum == 71980 + i, "sixty arguments");
}

__attribute__((target("avx"))) static void check_vector(long i)
{
	callee_vector a = {1, 2, 3, (double)i};
	callee_vector b = {10, 20, 30, 40};
	callee_vector sum = callee_scale_vector(a, b, 2.0);

	expect(sum[0] == 22 && sum[1] == 44 && sum[2] == 66 && sum[3] == 2.0 * (double)(i + 40),
	       "AVX vector");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	int has_avx = __builtin_cpu_supports("avx");

	for (long i = 0; i < n; i++) {
		check_registers(i);
		check_stack(i);
		if (has_avx)
			check_vector(i);
	}
	printf("%s\n", n_wrong ? "some values are wrong" : "all values are right");
	return n_wrong != 0;
}
