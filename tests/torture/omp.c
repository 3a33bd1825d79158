/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops, tasks and ordered output with gomp. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

static long fibonacci(int n)
{
	long a, b;

	if (n < 12)
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
	a = fibonacci(n - 1);
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(void)
{
	double sum = 0;
	long n = 0;

#pragma omp parallel for reduction(+ : n) schedule(dynamic, 100) num_threads(4)
	for (int i = 0; i < 100000; i++)
		n += (long)strlen(i % 2 ? "odd" : "even") + (long)floor(sqrt(i) + pow(i, 0.3));
#pragma omp parallel num_threads(4)
#pragma omp single
	sum = (double)fibonacci(20);
#pragma omp parallel for ordered num_threads(3)
	for (int i = 0; i < 20; i++) {
#pragma omp ordered
		printf("%d %.15g\n", i, sin(i) + sum);
	}
	printf("%ld\n", n);
	return 0;
}
