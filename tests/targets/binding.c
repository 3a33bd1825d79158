/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binding N: N calls through each kind of reference that a linker makes of one. Built in many
 * ways; every build prints the same values, and none notices that a slot was changed.
 *
 *	callee_add		called only
 *	callee_down		called only, as the last thing
 *	callee_factorial	called, and its address taken
 *	callee_errno		address taken only
 *	callee_missing		weak, and nowhere
 *	sin, memcpy		IFUNCs in libc, called and by pointer
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/targets/callee.h"

int callee_missing(int) __attribute__((weak));

typedef int (*number_function)(int);

static long (*const volatile in_data)(int) = callee_factorial;
static double (*const volatile sine)(double) = sin;

__attribute__((noinline)) static long as_the_last_thing(long n)
{
	return callee_down(n);
}

static long call_all(long n)
{
	char text[24] = "", copy[24];
	volatile size_t n_copied = sizeof(text);
	volatile double x = 0.5;
	double sum = 0.0;
	long total = 0;

	for (long i = 0; i < n; i++) {
		total += callee_add((int)i, 1) + as_the_last_thing(0) + callee_factorial(3);
		snprintf(text, sizeof(text), "%ld", i);
		memcpy(copy, text, n_copied);
		total += atol(copy);
		sum += sin(x * (double)i) - sine(x * (double)i) + sin(x + (double)i);
	}
	printf("%ld %a\n", total, sum);
	return total;
}

/* The same address whoever takes it, before and after calls. */
static void compare_addresses(void)
{
	long (*volatile taken)(int) = callee_factorial;
	number_function volatile only = callee_errno;

	printf("factorial: %s\n", taken == in_data ? "one address" : "two addresses");
	printf("factorial: %s\n", (void *)taken == dlsym(RTLD_DEFAULT, "callee_factorial")
					  ? "one address"
					  : "two addresses");
	printf("errno: %s\n", (void *)only == dlsym(RTLD_DEFAULT, "callee_errno")
				      ? "one address"
				      : "two addresses");
	printf("errno by pointer: %d\n", only(5) >= 0);
	printf("factorial by pointer: %ld\n", taken(1) + in_data(1));
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	char text[] = "before", after[sizeof(text)];

	compare_addresses();
	(void)call_all(n);
	compare_addresses();
	copy(after, text, sizeof(text));
	printf("%s\n", after);
	printf("missing: %d\n", callee_missing ? callee_missing(1) : -1);
	return 0;
}
