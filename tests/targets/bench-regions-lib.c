/* SPDX-License-Identifier: BSD-3-Clause */
/* A hundred functions: as many regions. */
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define HUNDRED(X) \
	TEN(X, 0)  \
	TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9)

#define DEFINE(n)                    \
	int bench_region_##n(int x); \
	int bench_region_##n(int x)  \
	{                            \
		return x + 1;        \
	}
HUNDRED(DEFINE)
