/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the functions of libm, in double, float and long double, with arguments of every size. */
#define _GNU_SOURCE
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>

#define ONE(X)                                                                              \
	X(acos)                                                                             \
	X(acosh)                                                                            \
	X(asin)                                                                             \
	X(asinh)                                                                            \
	X(atan)                                                                             \
	X(atanh)                                                                            \
	X(cbrt)                                                                             \
	X(ceil)                                                                             \
	X(cos)                                                                              \
	X(cosh)                                                                             \
	X(erf)                                                                              \
	X(erfc)                                                                             \
	X(exp)                                                                              \
	X(exp10)                                                                            \
	X(exp2)                                                                             \
	X(expm1)                                                                            \
	X(fabs)                                                                             \
	X(floor)                                                                            \
	X(j0) X(j1) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(nearbyint) X(rint) \
		X(round) X(roundeven) X(significand) X(sin) X(sinh) X(sqrt) X(tan) X(tanh)  \
			X(tgamma) X(trunc) X(y0) X(y1)
#define TWO(X)      \
	X(atan2)    \
	X(copysign) \
	X(drem) X(fdim) X(fmax) X(fmin) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)
#define COMPLEX(X) \
	X(cacos)   \
	X(cacosh)  \
	X(casin)   \
	X(casinh)  \
	X(catan)   \
	X(catanh)  \
	X(ccos) X(ccosh) X(cexp) X(clog) X(cproj) X(csin) X(csinh) X(csqrt) X(ctan) X(ctanh)

static const double values[] = {0.0,	0.3, -0.7, 1.0,	   1.5,	     -2.25, 17.3,
				1e-300, 1e5, 3e10, -1e300, INFINITY, NAN};
#define N_VALUES (sizeof(values) / sizeof(*values))

static void one(double x)
{
#define CALL(name) \
	printf(#name " %a %a %La\n", name(x), name##f((float)x), name##l((long double)x));
	ONE(CALL)
#undef CALL
	printf("%d %d %ld %lld\n", ilogb(x), ilogbf((float)x), fabs(x) < 1e9 ? lrint(x) : 0,
	       fabs(x) < 1e9 ? llround(x) : 0);
	printf("%a %a %a\n", jn(3, x), yn(2, fabs(x)), scalbn(x, 5));
}

static void two(double x, double y)
{
	int quotient = 0;

#define CALL(name)                                                            \
	printf(#name " %a %a %La\n", name(x, y), name##f((float)x, (float)y), \
	       name##l((long double)x, (long double)y));
	TWO(CALL)
#undef CALL
	printf("%a %d %a\n", remquo(x, y, &quotient), quotient & 7, fma(x, y, 0.1));
}

static void of_complex(double complex z)
{
	double complex r;
	float complex rf;
	long double complex rl;

#define CALL(name)                                                                         \
	r = name(z);                                                                       \
	rf = name##f((float complex)z);                                                    \
	rl = name##l((long double complex)z);                                              \
	printf(#name " %a %a %a %a %La %La\n", creal(r), cimag(r), crealf(rf), cimagf(rf), \
	       creall(rl), cimagl(rl));
	COMPLEX(CALL)
#undef CALL
	r = cpow(z, 1.5 + I);
	printf("%a %a %a %a\n", creal(r), cimag(r), cabs(z), carg(z));
}

int main(void)
{
	double s, c, ip;
	int exponent;

	for (size_t i = 0; i < N_VALUES; i++) {
		one(values[i]);
		for (size_t j = 0; j < N_VALUES; j++)
			two(values[i], values[j]);
		of_complex(values[i] + 0.5 * I);
		sincos(values[i], &s, &c);
		printf("%a %a %a", s, c, modf(values[i], &ip));
		printf(" %a %a %d\n", ip, frexp(values[i], &exponent), exponent);
	}
	fesetround(FE_UPWARD);
	one(0.9);
	printf("%d %x\n", fegetround(), (unsigned int)fetestexcept(FE_ALL_EXCEPT));
	return 5;
}
