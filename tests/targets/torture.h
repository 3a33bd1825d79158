/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libtorture.so: functions whose arguments and results go everywhere that the x86-64 ABI has a
 * place for them. Each returns something that depends on every bit of what it got.
 *
 * Those with vectors of 64 bytes need AVX-512, those of 32 bytes AVX.
 */
#ifndef CALLMARK_TESTS_TARGETS_TORTURE_H
#define CALLMARK_TESTS_TARGETS_TORTURE_H

#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>

struct torture_block {
	long words[8];
};

struct torture_large {
	long words[500]; /* passed by value: 4,000 bytes of stack arguments */
};

#define TORTURE_LIST10(x, n) \
	x(n##0), x(n##1), x(n##2), x(n##3), x(n##4), x(n##5), x(n##6), x(n##7), x(n##8), x(n##9)
#define TORTURE_LIST90(x)                                                                       \
	TORTURE_LIST10(x, 1), TORTURE_LIST10(x, 2), TORTURE_LIST10(x, 3), TORTURE_LIST10(x, 4), \
		TORTURE_LIST10(x, 5), TORTURE_LIST10(x, 6), TORTURE_LIST10(x, 7),               \
		TORTURE_LIST10(x, 8), TORTURE_LIST10(x, 9)
#define TORTURE_LONG(n) long a##n

double torture_variadic(int n, ...);
double torture_list(int n, va_list args);
struct torture_block torture_block(struct torture_block block, long factor);
long torture_large(int a, struct torture_large large, int b);
long torture_nested(long x, long y); /* and the static chain, r10: a pointer to a long */
long double torture_long_double(long double a, int n, long double b, long double c);
double _Complex torture_complex(double _Complex a, float _Complex b);
long double _Complex torture_long_complex(long double _Complex a, long double _Complex b);
unsigned __int128 torture_int128(unsigned __int128 a, long b, unsigned __int128 c, long d,
				 unsigned __int128 e);

__attribute__((target("avx"))) __m256d torture_avx(__m256d a, __m256d b, __m256d c, __m256d d,
						   __m256d e, __m256d f, __m256d g, __m256d h,
						   __m256d i, __m256d j);
__attribute__((target("avx512f,avx512bw"))) __m512d torture_avx512(__m512d a, __mmask8 mask,
								   __m512d b, __m512d c, __m512d d,
								   __m512d e, __m512d f, __m512d g,
								   __m512d h, __m512d i, __m512d j);
__attribute__((target("avx512f,avx512bw"))) __mmask64 torture_mask(__m512i a, __m512i b,
								   __mmask64 mask);

/* Leaves another rounding direction behind; returns the MXCSR that it found. */
unsigned int torture_round(unsigned int direction);

/* 90 arguments, read at once, behind a switch, and by a function that is called at the end. */
long torture_ninety(TORTURE_LIST90(TORTURE_LONG));
long torture_ninety_switch(TORTURE_LIST90(TORTURE_LONG));
long torture_ninety_tail(TORTURE_LIST90(TORTURE_LONG));

#endif
