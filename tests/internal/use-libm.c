/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the functions of libm, in double, float and long double, with arguments of every size. */
#define _GNU_SOURCE
#include <complex.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>

#define ALL_TYPES(name)                       \
	{                                     \
#name, name, name##f, name##l \
	}

static const struct one {
	const char *name;
	double (*d)(double);
	float (*f)(float);
	long double (*l)(long double);
} ones[] = {
	ALL_TYPES(acos),	ALL_TYPES(acosh),     ALL_TYPES(asin),	ALL_TYPES(asinh),
	ALL_TYPES(atan),	ALL_TYPES(atanh),     ALL_TYPES(cbrt),	ALL_TYPES(ceil),
	ALL_TYPES(cos),		ALL_TYPES(cosh),      ALL_TYPES(erf),	ALL_TYPES(erfc),
	ALL_TYPES(exp),		ALL_TYPES(exp10),     ALL_TYPES(exp2),	ALL_TYPES(expm1),
	ALL_TYPES(fabs),	ALL_TYPES(floor),     ALL_TYPES(j0),	ALL_TYPES(j1),
	ALL_TYPES(lgamma),	ALL_TYPES(log),	      ALL_TYPES(log10), ALL_TYPES(log1p),
	ALL_TYPES(log2),	ALL_TYPES(logb),      ALL_TYPES(rint),	ALL_TYPES(round),
	ALL_TYPES(roundeven),	ALL_TYPES(sin),	      ALL_TYPES(sinh),	ALL_TYPES(sqrt),
	ALL_TYPES(significand), ALL_TYPES(tan),	      ALL_TYPES(tanh),	ALL_TYPES(tgamma),
	ALL_TYPES(trunc),	ALL_TYPES(nearbyint), ALL_TYPES(y0),	ALL_TYPES(y1),
};

static const struct two {
	const char *name;
	double (*d)(double, double);
	float (*f)(float, float);
	long double (*l)(long double, long double);
} twos[] = {
	ALL_TYPES(atan2), ALL_TYPES(copysign), ALL_TYPES(drem),	     ALL_TYPES(fdim),
	ALL_TYPES(fmax),  ALL_TYPES(fmin),     ALL_TYPES(fmod),	     ALL_TYPES(hypot),
	ALL_TYPES(pow),	  ALL_TYPES(scalb),    ALL_TYPES(nextafter), ALL_TYPES(remainder),
};

static const struct of_complex {
	const char *name;
	double complex (*d)(double complex);
	float complex (*f)(float complex);
	long double complex (*l)(long double complex);
} of_complex[] = {
	ALL_TYPES(cacos), ALL_TYPES(cacosh), ALL_TYPES(casin), ALL_TYPES(casinh),
	ALL_TYPES(catan), ALL_TYPES(catanh), ALL_TYPES(ccos),  ALL_TYPES(ccosh),
	ALL_TYPES(cexp),  ALL_TYPES(clog),   ALL_TYPES(cproj), ALL_TYPES(csin),
	ALL_TYPES(csinh), ALL_TYPES(csqrt),  ALL_TYPES(ctan),  ALL_TYPES(ctanh),
};

static const double values[] = {0.0, 0.3,    -0.7, 1.0,	 1.5,	 -2.25,	   17.3,
				8,   1e-300, 1e5,  3e10, -1e300, INFINITY, NAN};

#define N(array) (sizeof(array) / sizeof((array)[0]))

static void call_ones(double x)
{
	for (size_t i = 0; i < N(ones); i++)
		printf("%s %a %a %La\n", ones[i].name, ones[i].d(x), ones[i].f((float)x),
		       ones[i].l((long double)x));
	printf("%d %d %ld %lld\n", ilogb(x), ilogbf((float)x), fabs(x) < 1e9 ? lrint(x) : 0,
	       fabs(x) < 1e9 ? llround(x) : 0);
	printf("%a %a %a\n", jn(3, x), yn(2, fabs(x)), scalbn(x, 5));
}

static void call_twos(double x, double y)
{
	int quotient = 0;

	for (size_t i = 0; i < N(twos); i++)
		printf("%s %a %a %La\n", twos[i].name, twos[i].d(x, y),
		       twos[i].f((float)x, (float)y), twos[i].l((long double)x, (long double)y));
	printf("%a %d %a\n", remquo(x, y, &quotient), quotient & 7, fma(x, y, 0.1));
}

static void call_complex(double complex z)
{
	for (size_t i = 0; i < N(of_complex); i++) {
		double complex r = of_complex[i].d(z);
		float complex rf = of_complex[i].f((float complex)z);
		long double complex rl = of_complex[i].l((long double complex)z);

		printf("%s %a %a %a %a %La %La\n", of_complex[i].name, creal(r), cimag(r),
		       crealf(rf), cimagf(rf), creall(rl), cimagl(rl));
	}
	z = cpow(z, 1.5 + I);
	printf("%a %a %a %a\n", creal(z), cimag(z), cabs(z), carg(z));
}

int main(void)
{
	double s, c, ip;
	int exponent;

	for (size_t i = 0; i < N(values); i++) {
		call_ones(values[i]);
		for (size_t j = 0; j < N(values); j++)
			call_twos(values[i], values[j]);
		call_complex(values[i] + 0.5 * I);
		sincos(values[i], &s, &c);
		printf("%a %a %a", s, c, modf(values[i], &ip));
		printf(" %a %a %d\n", ip, frexp(values[i], &exponent), exponent);
	}
	fesetround(FE_UPWARD);
	call_ones(0.9);
	printf("%d %x\n", fegetround(), (unsigned int)fetestexcept(FE_ALL_EXCEPT));
	return 5;
}
