/* SPDX-License-Identifier: BSD-3-Clause */
/* libmark-wide.so: functions whose arguments and results fill vector and x87 registers. */
#include "tests/targets/mark-wide.h"

__attribute__((target("avx"))) wide_256 wide_add_256(wide_256 a, wide_256 b, wide_256 c, wide_256 d,
						     wide_256 e, wide_256 f, wide_256 g, wide_256 h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

__attribute__((target("avx512f"))) wide_512 wide_add_512(wide_512 a, wide_512 b, wide_512 c,
							 wide_512 d, wide_512 e, wide_512 f,
							 wide_512 g, wide_512 h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

double wide_add_eight(double a, double b, double c, double d, double e, double f, double g,
		      double h)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

long double wide_half(long double x)
{
	return x / 2;
}

float _Complex wide_turn_float(float _Complex z)
{
	return __builtin_complex(-__imag__ z, __real__ z);
}

double _Complex wide_turn(double _Complex z)
{
	return __builtin_complex(-__imag__ z, __real__ z);
}

long double _Complex wide_turn_long(long double _Complex z)
{
	return __builtin_complex(-__imag__ z, __real__ z);
}

unsigned __int128 wide_shift(unsigned __int128 x)
{
	return x << 1;
}

void wide_nothing(void)
{
}
