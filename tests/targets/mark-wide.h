/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmark-wide.so: arguments in all eight vector registers at full width, results in vector
 * registers, in st0, in st0 and st1, in rax and rdx. All are exact where the arguments are.
 *
 * Any thread. wide_add_256 and wide_add_512 only where the CPU has AVX and AVX-512F.
 */
#ifndef CALLMARK_TESTS_TARGETS_MARK_WIDE_H
#define CALLMARK_TESTS_TARGETS_MARK_WIDE_H

typedef double wide_256 __attribute__((vector_size(32)));
typedef double wide_512 __attribute__((vector_size(64)));

/* a + 2 b + 3 c + 4 d + 5 e + 6 f + 7 g + 8 h */
wide_256 wide_add_256(wide_256 a, wide_256 b, wide_256 c, wide_256 d, wide_256 e, wide_256 f,
		      wide_256 g, wide_256 h);
wide_512 wide_add_512(wide_512 a, wide_512 b, wide_512 c, wide_512 d, wide_512 e, wide_512 f,
		      wide_512 g, wide_512 h);
double wide_add_eight(double a, double b, double c, double d, double e, double f, double g,
		      double h);

long double wide_half(long double x);

/* i z */
float _Complex wide_turn_float(float _Complex z);
double _Complex wide_turn(double _Complex z);
long double _Complex wide_turn_long(long double _Complex z);

unsigned __int128 wide_shift(unsigned __int128 x);
void wide_nothing(void);

#endif
