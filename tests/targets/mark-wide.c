/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mark-wide N: N rounds of the functions of mark-wide.h, results compared bit by bit; then N calls
 * each with trapping floating-point exceptions, other rounding, and sticky flags looked at.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/targets/mark-wide.h"

static int n_wrong;

static void expect(int is_good, const char *what)
{
	if (!is_good && n_wrong++ < 10)
		printf("wrong: %s\n", what);
}

#define VECTOR_CHECK(name, type, n_doubles, cpu)                                               \
	__attribute__((target(cpu))) static void name(long round)                              \
	{                                                                                      \
		type v[8], sum;                                                                \
		int is_good = 1;                                                               \
                                                                                               \
		for (int i = 0; i < 8; i++)                                                    \
			for (int k = 0; k < (n_doubles); k++)                                  \
				v[i][k] = (double)(round + 100 * i + k);                       \
		sum = wide_add_##n_doubles##_doubles(v[0], v[1], v[2], v[3], v[4], v[5], v[6], \
						     v[7]);                                    \
		for (int k = 0; k < (n_doubles); k++)                                          \
			is_good &= sum[k] == 36.0 * (double)(round + k) + 100.0 * 168;         \
		expect(is_good, #type);                                                        \
	}
#define wide_add_4_doubles wide_add_256
#define wide_add_8_doubles wide_add_512
VECTOR_CHECK(check_256, wide_256, 4, "avx")
VECTOR_CHECK(check_512, wide_512, 8, "avx512f")

static void check_x87(long round)
{
	long double x = 1.0L + (long double)round / 3.0L, y = -2.0L / 7.0L;
	long double _Complex z = wide_turn_long(__builtin_complex(x, y));

	expect(wide_half(x) == x / 2, "long double");
	expect(__real__ z == -y && __imag__ z == x, "long double _Complex");
	/* The x87 stack is as empty as it was: eight more values fit. */
	expect(wide_half(wide_half(wide_half(x))) == x / 8, "x87 stack");
}

static void check_scalar(long round)
{
	double x = 1.0 + (double)round / 3.0;
	double _Complex z = wide_turn(__builtin_complex(x, -0.1));
	float _Complex w = wide_turn_float(__builtin_complex((float)x, 0.3f));
	unsigned __int128 big = (unsigned __int128)(unsigned long)round << 63 | 0x8000000000000001u;

	expect(__real__ z == 0.1 && __imag__ z == x, "double _Complex");
	expect(__real__ w == -0.3f && __imag__ w == (float)x, "float _Complex");
	expect(wide_add_eight(x, 0, 0, 0, 0, 0, 0, 1) == x + 8, "eight doubles");
	expect(wide_shift(big) == big * 2, "__int128");
}

static unsigned int get_mxcsr(void)
{
	return __builtin_ia32_stmxcsr();
}

static unsigned short get_x87_control(void)
{
	unsigned short control;

	__asm__ volatile("fnstcw %0" : "=m"(control));
	return control;
}

/* Any inexact operation in between raises SIGFPE, and any changed register shows. */
static void check_environment(long n, int excepts, int rounding)
{
	unsigned int mxcsr;
	unsigned short control;

	feclearexcept(FE_ALL_EXCEPT);
	fesetround(rounding);
	feenableexcept(excepts);
	mxcsr = get_mxcsr();
	control = get_x87_control();
	for (long i = 0; i < n; i++) {
		wide_nothing();
		expect(wide_add_eight(1, 1, 1, 1, 1, 1, 1, 1) == 36, "exact sum");
		expect(wide_half(3) == 1.5L, "exact half");
	}
	expect(get_mxcsr() == mxcsr, "MXCSR");
	expect(get_x87_control() == control, "x87 control word");
	expect(fegetexcept() == excepts && fegetround() == rounding, "floating-point environment");
	expect(!fetestexcept(FE_ALL_EXCEPT), "exception flags");
	fedisableexcept(FE_ALL_EXCEPT);
	fesetround(FE_TONEAREST);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (long i = 0; i < n; i++) {
		if (__builtin_cpu_supports("avx"))
			check_256(i);
		if (__builtin_cpu_supports("avx512f"))
			check_512(i);
		check_x87(i);
		check_scalar(i);
	}
	check_environment(n, 0, FE_TONEAREST);
	check_environment(n, 0, FE_UPWARD);
	check_environment(n, 0, FE_TOWARDZERO);
	check_environment(n, FE_INEXACT | FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW,
			  FE_DOWNWARD);
	printf("%d wrong\n", n_wrong);
	return n_wrong != 0;
}
