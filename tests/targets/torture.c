/* SPDX-License-Identifier: BSD-3-Clause */
/* torture N: N rounds of the functions of torture.h; prints a checksum of all bits of the results.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/targets/torture.h"

static uint64_t checksum = UINT64_C(0xcbf29ce484222325);

static void add(const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		checksum = (checksum ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

#define ADD(value)                            \
	do {                                  \
		__auto_type result = (value); \
		add(&result, sizeof(result)); \
	} while (0)

static void print(const char *what)
{
	printf("%s %016lx\n", what, checksum);
}

static void add_long_double(long double x)
{
	add(&x, 10); /* the rest of its 16 bytes is padding */
}

static void try_structs(long i)
{
	struct torture_block block;
	static struct torture_large large;

	for (int k = 0; k < 8; k++)
		block.words[k] = i * k;
	for (int k = 0; k < 500; k++)
		large.words[k] = i ^ k;
	ADD(torture_block(block, i));
	ADD(torture_large((int)i, large, 7));
}

/* With the chain in r10, as code for nested functions has it; a tail call of a caller unknown. */
long call_nested(long x, long y, const long *chain);
__asm__(".text\n"
	".type call_nested, @function\n"
	"call_nested:\n"
	"	movq	%rdx, %r10\n"
	"	jmp	torture_nested@PLT\n"
	".size call_nested, . - call_nested\n");

static void try_numbers(long i)
{
	double x = 1.0 / (double)(i + 3);
	unsigned __int128 wide = (unsigned __int128)i << 90 | 12345;
	double _Complex z = x + 2.0 * I;
	long double _Complex w = x - 3.0L * I, product;
	long chain = i * 11;

	ADD(torture_variadic(10, x, i, x * 2, i + 1, x * 3, i + 2, x * 4, i + 3, x * 5, i + 4,
			     x * 6, i + 5, x * 7, i + 6, x * 8, i + 7, x * 9, i + 8, x * 10,
			     i + 9));
	ADD(call_nested(i, 5, &chain));
	add_long_double(torture_long_double(x, (int)i, x * 3, 7.0L));
	ADD(torture_complex(z, (float _Complex)(z * 3)));
	product = torture_long_complex(w, w + 1.0L);
	add_long_double(creall(product));
	add_long_double(cimagl(product));
	ADD(torture_int128(wide, i, wide * 3, -i, wide + 1));
}

static void try_rounding(long i)
{
	unsigned int before = torture_round(i % 2 ? _MM_ROUND_UP : _MM_ROUND_DOWN);
	volatile double x = 1.0 + (double)i, y = 3.0;

	ADD(x / y);
	ADD(torture_round(before & _MM_ROUND_MASK));
	ADD(x / y);
}

#define VALUE(n) i *n

static void try_ninety(long i)
{
	ADD(torture_ninety(TORTURE_LIST90(VALUE)));
	ADD(torture_ninety_tail(TORTURE_LIST90(VALUE)));
	ADD(torture_ninety_switch(TORTURE_LIST90(VALUE)));
}

__attribute__((target("avx"))) static void try_avx(long i)
{
	__m256d a = _mm256_set1_pd((double)i);

	ADD(torture_avx(a, a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7, a + 8, a * 9));
}

__attribute__((target("avx512f,avx512bw"))) static void try_avx512(long i)
{
	__m512d a = _mm512_set1_pd((double)i);
	__m512i bytes = _mm512_set1_epi32((int)i * 77777);

	ADD(torture_avx512(a, (__mmask8)(i * 5), a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7,
			   a + 8, a * 9));
	ADD(torture_mask(bytes, _mm512_set1_epi8(3), (__mmask64)i * 0x123456789));
}

int main(int argc, char **argv)
{
	static void (*const trials[])(long) = {try_structs, try_numbers, try_rounding, try_ninety};
	static const char *const names[] = {"structs", "numbers", "rounding", "ninety"};
	long n = argc > 1 ? atol(argv[1]) : 1;

	for (size_t k = 0; k < sizeof(trials) / sizeof(*trials); k++) {
		for (long i = 0; i < n; i++)
			trials[k](i);
		print(names[k]);
	}
	for (long i = 0; i < n && __builtin_cpu_supports("avx"); i++)
		try_avx(i);
	print("avx");
	for (long i = 0; i < n && __builtin_cpu_supports("avx512bw"); i++)
		try_avx512(i);
	print("avx512");
	return 0;
}
