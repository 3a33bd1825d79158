/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the generated programs of this folder share: inputs that no compiler knows, one sum of all
 * results, and the table of how often each function is called.
 *
 *	use(f(input(3)));		a call that cannot be left out, shared or moved
 *	count("f", 1, 1);		prints the row of the table: at least, at most
 *
 *	#define f(x) (CALLED(n_f), f(x))	after f's definition: calls by name count themselves
 *
 * A function whose calls are counted is KEEP: not inlined, but cloned, split and called with
 * conventions of its own as the compiler likes.
 */
#ifndef CALLMARK_TESTS_INTERNAL_INTERNAL_H
#define CALLMARK_TESTS_INTERNAL_INTERNAL_H

#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))
#define ROUNDS 3
#define CALLED(n) ((void)__atomic_fetch_add(&(n), 1, __ATOMIC_RELAXED))
#ifndef EARLY
#define EARLY 0 /* 1: constructors run before callmark's */
#endif
#define MAGIC UINT64_C(0x5bd1e9955bd1e995) /* no input and no result */

#ifdef __cplusplus
extern "C" {
#endif
extern volatile uint64_t internal_inputs[64];
extern volatile uint64_t internal_sum;

static inline __attribute__((always_inline)) uint64_t input(unsigned int i)
{
	return internal_inputs[i % 64];
}

static inline __attribute__((always_inline)) void use(uint64_t x)
{
	internal_sum = (internal_sum ^ x) * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

static inline __attribute__((always_inline)) void count(const char *name, unsigned long least,
							unsigned long most)
{
	printf("COUNT\t%s\t%lu\t%lu\n", name, least, most);
}
#ifdef __cplusplus
}
#endif

#endif
