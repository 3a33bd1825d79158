/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of torture.h. */
#include "tests/targets/torture.h"

double torture_list(int n, va_list args)
{
	double sum = n;

	for (int i = 0; i < n; i++)
		sum = sum * 1.0625 + va_arg(args, double) + (double)va_arg(args, long);
	return sum;
}

double torture_variadic(int n, ...)
{
	va_list args;
	double sum;

	va_start(args, n);
	sum = torture_list(n, args);
	va_end(args);
	return sum;
}

struct torture_block torture_block(struct torture_block block, long factor)
{
	for (int i = 0; i < 8; i++)
		block.words[i] = block.words[i] * factor + i;
	return block;
}

__attribute__((noinline)) static long sum_words(const long *words, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum * 3 + words[i];
	return sum;
}

long torture_large(int a, struct torture_large large, int b)
{
	return sum_words(large.words, 500) * a + b;
}

/* No unwind table either: nothing is known about it. */
__asm__(".text\n"
	".globl torture_nested\n"
	".type torture_nested, @function\n"
	"torture_nested:\n"
	"	leaq	(%rdi,%rsi,4), %rax\n"
	"	addq	(%r10), %rax\n"
	"	ret\n"
	".size torture_nested, . - torture_nested\n");

long double torture_long_double(long double a, int n, long double b, long double c)
{
	return a * n + b / c;
}

double _Complex torture_complex(double _Complex a, float _Complex b)
{
	return a * b + conj(a);
}

long double _Complex torture_long_complex(long double _Complex a, long double _Complex b)
{
	return a * b - a;
}

unsigned __int128 torture_int128(unsigned __int128 a, long b, unsigned __int128 c, long d,
				 unsigned __int128 e)
{
	return a * 3 + c * 5 + e * 7 + (unsigned __int128)b * d;
}

__attribute__((target("avx"))) __m256d torture_avx(__m256d a, __m256d b, __m256d c, __m256d d,
						   __m256d e, __m256d f, __m256d g, __m256d h,
						   __m256d i, __m256d j)
{
	return a - b * 2 + c * 3 - d * 4 + e * 5 - f * 6 + g * 7 - h * 8 + i * 9 - j * 10;
}

__attribute__((target("avx512f,avx512bw"))) __m512d torture_avx512(__m512d a, __mmask8 mask,
								   __m512d b, __m512d c, __m512d d,
								   __m512d e, __m512d f, __m512d g,
								   __m512d h, __m512d i, __m512d j)
{
	__m512d sum = a - b * 2 + c * 3 - d * 4 + e * 5 - f * 6 + g * 7 - h * 8 + i * 9 - j * 10;

	return _mm512_mask_mul_pd(sum, mask, sum, a);
}

__attribute__((target("avx512f,avx512bw"))) __mmask64 torture_mask(__m512i a, __m512i b,
								   __mmask64 mask)
{
	return _mm512_mask_cmpgt_epi8_mask(mask, a, b);
}

unsigned int torture_round(unsigned int direction)
{
	unsigned int before = _mm_getcsr();

	_mm_setcsr((before & ~(unsigned int)_MM_ROUND_MASK) | direction);
	return before;
}

#define WEIGH(n) sum = sum * 3 + a##n
#define WEIGH_ALL TORTURE_LIST90(WEIGH)

long torture_ninety(TORTURE_LIST90(TORTURE_LONG))
{
	long sum = 0;

	WEIGH_ALL;
	return sum;
}

long torture_ninety_switch(TORTURE_LIST90(TORTURE_LONG))
{
	long sum = 0;

	switch (a10) {
	case 0:
		return a99;
	case 1:
		return a98 * a11;
	case 2:
		return a97 - a12;
	case 3:
		return a96 + a50 * a13;
	case 4:
		return a95 ^ a14;
	case 5:
		return a94 | a15;
	default:
		WEIGH_ALL;
		return sum;
	}
}

#define NAME(n) a##n

long torture_ninety_tail(TORTURE_LIST90(TORTURE_LONG))
{
	return torture_ninety(TORTURE_LIST90(NAME));
}
