/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forced N DEPTH: N times _Unwind_ForcedUnwind through DEPTH frames of callee_call, each with a
 * cleanup of ours above it; its stop function jumps out when it reaches the frame it began at.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

#include "tests/targets/callee.h"

static long n_cleaned;
static int n_left;
static uintptr_t base;
static jmp_buf out;
static struct _Unwind_Exception unwinding;

static void clean(int *level)
{
	n_cleaned += *level >= 0;
}

static _Unwind_Reason_Code stop(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
				struct _Unwind_Exception *exception,
				struct _Unwind_Context *context, void *arg)
{
	(void)version;
	(void)class;
	(void)exception;
	(void)arg;
	if (actions & _UA_END_OF_STACK || _Unwind_GetCFA(context) >= base)
		longjmp(out, 1);
	return _URC_NO_REASON;
}

static void descend(void *arg)
{
	__attribute__((cleanup(clean))) int level = n_left;

	if (n_left-- > 0)
		callee_call(descend, arg);
	else
		(void)_Unwind_ForcedUnwind(&unwinding, stop, NULL); /* does not come back */
	/* Not a tail call. */
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	volatile long n = argc > 2 ? atol(argv[1]) : 1;
	volatile long n_jumps = 0;

	base = (uintptr_t)__builtin_frame_address(0);
	while (n_jumps < n) {
		n_left = argc > 2 ? atoi(argv[2]) : 1;
		if (setjmp(out) == 0)
			descend(NULL);
		n_jumps++;
		(void)callee_add(1, 1); /* only the number of calls matters */
	}
	printf("%ld unwound, %ld cleaned\n", n_jumps, n_cleaned);
	return 0;
}
