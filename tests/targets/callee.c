/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of callee.h: each does so little that a wrong value can only come from the call. */
#include "tests/targets/callee.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

int callee_add(int a, int b)
{
	return a + b;
}

long callee_factorial(int n)
{
	return n <= 1 ? 1 : n * callee_step(n - 1);
}

long callee_step(int n)
{
	return callee_factorial(n);
}

double callee_variadic(int a, int b, int c, int d, int e, int f, int n_doubles, ...)
{
	double sum = a + b + c + d + e + f + n_doubles;
	va_list args;

	va_start(args, n_doubles);
	for (int i = 0; i < n_doubles; i++)
		sum += va_arg(args, double);
	va_end(args);
	return sum;
}

struct callee_large callee_fill_large(long first)
{
	struct callee_large large;

	for (int i = 0; i < 7; i++)
		large.values[i] = first + i;
	return large;
}

struct callee_pair callee_fill_pair(long integer, double real)
{
	return (struct callee_pair){.integer = integer, .real = real};
}

long double callee_long_double(long double x, int n, long double y)
{
	return x * n + y;
}

__attribute__((target("avx"))) callee_vector callee_scale_vector(callee_vector a, callee_vector b,
								 double factor)
{
	return (a + b) * factor;
}

#define TEN(first)                                                                                \
	long p##first##0, long p##first##1, long p##first##2, long p##first##3, long p##first##4, \
		long p##first##5, long p##first##6, long p##first##7, long p##first##8,           \
		long p##first##9
#define SUM(n)                                                                             \
	((n)*10 + 1) * p##n##0 + ((n)*10 + 2) * p##n##1 + ((n)*10 + 3) * p##n##2 +         \
		((n)*10 + 4) * p##n##3 + ((n)*10 + 5) * p##n##4 + ((n)*10 + 6) * p##n##5 + \
		((n)*10 + 7) * p##n##6 + ((n)*10 + 8) * p##n##7 + ((n)*10 + 9) * p##n##8 + \
		((n)*10 + 10) * p##n##9

long callee_sixty(TEN(0), TEN(1), TEN(2), TEN(3), TEN(4), TEN(5))
{
	return SUM(0) + SUM(1) + SUM(2) + SUM(3) + SUM(4) + SUM(5);
}

static long kept;

void callee_ten(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
	kept = a + 2L * b + 3L * c + 4L * d + 5L * e + 6L * f + 7L * g + 8L * h + 9L * i + 10L * j;
}

long callee_kept(void)
{
	return kept;
}

int callee_errno(int value)
{
	int before = errno;

	errno = value;
	return before;
}

void callee_call(void (*f)(void *), void *arg)
{
	f(arg);
	/* Not a tail call: the frame has to be there. */
	__asm__ volatile("" ::: "memory");
}

void callee_leap(jmp_buf env, int value)
{
	longjmp(env, value);
}

void callee_wait(void)
{
	for (;;)
		(void)pause(); /* EINTR: wait on */
}

long callee_up(long n)
{
	return n ? callee_down(n - 1) + 1 : 0;
}

long callee_down(long n)
{
	return n ? callee_up(n - 1) + 1 : 0;
}
