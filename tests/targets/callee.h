/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libcallee.so: the functions that the end-to-end tests have intercepted, one for every way in
 * which a call can be passed, returned from or left.
 *
 * Any thread, any number at once. Callbacks may throw, be cancelled or jump out.
 */
#ifndef CALLMARK_TESTS_TARGETS_CALLEE_H
#define CALLMARK_TESTS_TARGETS_CALLEE_H

#include <setjmp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More than 16 bytes: comes back through a pointer that the caller passes in rdi. */
struct callee_large {
	long values[7];
};

/* Comes back in one general and one vector register. */
struct callee_pair {
	long integer;
	double real;
};

/* Four doubles in one AVX register. */
typedef double callee_vector __attribute__((vector_size(32)));

int callee_add(int a, int b);

/*
 * Recursion through the library's own PLT: n calls of callee_factorial for n >= 1, and n - 1 of
 * callee_step between them (a compiler would turn direct recursion into a loop).
 */
long callee_factorial(int n);
long callee_step(int n);

/* The sum of the seven integers and of the n_doubles values that follow. */
double callee_variadic(int a, int b, int c, int d, int e, int f, int n_doubles, ...);

struct callee_large callee_fill_large(long first);
struct callee_pair callee_fill_pair(long integer, double real);
long double callee_long_double(long double x, int n, long double y);
callee_vector callee_scale_vector(callee_vector a, callee_vector b, double factor);

/* The sum of (i + 1) * argument i: an argument in a wrong place shows. */
long callee_sixty(long, long, long, long, long, long, long, long, long, long, /* 10 */
		  long, long, long, long, long, long, long, long, long, long, /* 20 */
		  long, long, long, long, long, long, long, long, long, long, /* 30 */
		  long, long, long, long, long, long, long, long, long, long, /* 40 */
		  long, long, long, long, long, long, long, long, long, long, /* 50 */
		  long, long, long, long, long, long, long, long, long, long);

/* An entry of makecontext: the sum of (i + 1) * argument i is what callee_kept() returns next. */
void callee_ten(int, int, int, int, int, int, int, int, int, int);
long callee_kept(void);

/* n, counted by n calls of each other: many are open at once. */
long callee_down(long n);
long callee_up(long n);

/* Sets errno to value; returns what errno was at entry. */
int callee_errno(int value);

/* Runs f(arg) with this frame below it. */
void callee_call(void (*f)(void *), void *arg);

/* Leaves by longjmp(env, value). */
void callee_leap(jmp_buf env, int value);

/* Sleeps until cancelled or killed. */
void callee_wait(void);

#ifdef __cplusplus
}
#endif
#endif
