/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vector-math N: loops over N numbers that the compiler turns into calls of libmvec's functions,
 * which take and return whole vectors. The widest that the CPU has: they are cloned.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CLONED __attribute__((target_clones("avx512f", "avx2", "default"), noinline))

CLONED static void run(double *restrict out, const double *restrict in, long n)
{
	for (long i = 0; i < n; i++)
		out[i] = sin(in[i]);
	for (long i = 0; i < n; i++)
		out[i] += exp(-in[i]);
	for (long i = 0; i < n; i++)
		out[i] += pow(in[i] + 1.0, out[i]);
}

CLONED static void run_single(float *restrict out, const float *restrict in, long n)
{
	for (long i = 0; i < n; i++)
		out[i] = cosf(in[i]) + logf(in[i] + 1.0f);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1024;
	double *in = calloc((size_t)n, sizeof(*in)), *out = calloc((size_t)n, sizeof(*out));
	float *in_single = calloc((size_t)n, sizeof(*in_single));
	float *out_single = calloc((size_t)n, sizeof(*out_single));
	double sum = 0;

	if (!in || !out || !in_single || !out_single)
		return 1;
	for (long i = 0; i < n; i++) {
		in[i] = (double)(i % 100) / 16;
		in_single[i] = (float)in[i];
	}
	run(out, in, n);
	run_single(out_single, in_single, n);
	for (long i = 0; i < n; i++)
		printf("%a %a\n", out[i], (double)out_single[i]);
	for (long i = 0; i < n; i++)
		sum += out[i] + (double)out_single[i];
	printf("%a\n", sum);
	free(in);
	free(out);
	free(in_single);
	free(out_single);
	return 0;
}
