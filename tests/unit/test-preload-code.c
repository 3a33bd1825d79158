/* SPDX-License-Identifier: BSD-3-Clause */
/* Machine code: decoding instructions, and what a function is seen to read of its stack. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>

#include "preload/callee-stack.h"
#include "preload/instruction.h"
#include "preload/object.h"

#define DECODE(instruction, bytes) \
	cm_instruction_decode(instruction, (const uint8_t *)(bytes), sizeof(bytes) - 1)

struct length_case {
	char bytes[16];
	uint8_t length;
};

Test(instruction, has_the_length_that_objdump_says)
{
	static const struct length_case cases[] = {
		{"\xc3", 1},					  /* ret */
		{"\xf3\x0f\x1e\xfa", 4},			  /* endbr64 */
		{"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", 10}, /* nopw */
		{"\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", 10}, /* movabs */
		{"\x66\xb8\x01\x02", 4},			  /* mov $,%ax */
		{"\xc7\x44\x24\x08\x01\x00\x00\x00", 8},	  /* movl $1,8(%rsp) */
		{"\xf6\xc1\x01", 3},				  /* test $1,%cl */
		{"\xf7\xd8", 2},				  /* neg %eax */
		{"\x0f\x84\x01\x00\x00\x00", 6},		  /* je */
		{"\x0f\xc6\xc1\x01", 4},			  /* shufps */
		{"\xc5\xf8\x77", 3},				  /* vzeroupper */
		{"\xc5\xfd\x70\xc0\x01", 5},			  /* vpshufd */
		{"\xc4\xe3\x7d\x19\xc1\x01", 6},		  /* vextractf128 */
		{"\x62\xf1\xfd\x48\x28\x44\x24\x01", 8},	  /* vmovapd 0x40(%rsp),%zmm0 */
		{"\xc8\x10\x00\x00", 4},			  /* enter */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cm_instruction code;

		cr_expect(cm_instruction_decode(&code, (const uint8_t *)cases[i].bytes, 16),
			  "case %zu", i);
		cr_expect_eq(code.length, cases[i].length, "case %zu: %u", i, code.length);
	}
}

Test(instruction, tells_its_operands)
{
	struct cm_instruction code;

	cr_assert(DECODE(&code, "\x4c\x8b\x6c\x24\x10")); /* mov 0x10(%rsp),%r13 */
	cr_expect(code.has_memory && code.is_wide);
	cr_expect_eq(code.base, CM_REG_RSP);
	cr_expect_eq(code.index, CM_REG_NONE);
	cr_expect_eq(code.disp, 16);
	cr_expect_eq(code.reg, 13);
	cr_assert(DECODE(&code, "\x43\x8b\x44\x95\xf8")); /* mov -8(%r13,%r10,4),%eax */
	cr_expect_eq(code.base, 13);
	cr_expect_eq(code.index, 10);
	cr_expect_eq(code.disp, -8);
	cr_assert(DECODE(&code, "\x8b\x04\x25\x10\x00\x00\x00")); /* mov 0x10,%eax */
	cr_expect_eq(code.base, CM_REG_NONE);
	cr_assert(DECODE(&code, "\xff\x15\x00\x01\x00\x00")); /* call *0x100(%rip) */
	cr_expect_eq(code.base, CM_REG_RIP);
	cr_expect_eq(code.disp, 256);
	cr_assert(DECODE(&code, "\x41\x54")); /* push %r12 */
	cr_expect_eq(code.rm, 12);
	cr_assert(DECODE(&code, "\xeb\xfe")); /* jmp to itself */
	cr_expect_eq(code.immediate, -2);
	cr_assert(DECODE(&code, "\x62\xf1\xfd\x48\x28\x44\x24\x01"));
	cr_expect(code.is_scaled);
}

Test(instruction, is_refused_when_it_is_none_or_cut)
{
	struct cm_instruction code;

	cr_expect_not(DECODE(&code, ""));
	cr_expect_not(DECODE(&code, "\x06"));
	cr_expect_not(DECODE(&code, "\x48\x8b\x84\x24\x00"));
	cr_expect_not(
		DECODE(&code, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"));
	cr_expect_not(DECODE(&code, "\x0f\x04"));
}

Test(instruction, never_reads_further_than_it_may)
{
	unsigned char bytes[15];
	struct cm_instruction code;

	srandom(7);
	for (int round = 0; round < 200000; round++) {
		size_t n = (size_t)random() % 16;

		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)random();
		if (cm_instruction_decode(&code, bytes, n))
			cr_assert_leq(code.length, n);
	}
}

#define NO_SANITIZER __attribute__((noinline, noclone, no_sanitize("address", "undefined")))

NO_SANITIZER static long takes_six(long a, long b, long c, long d, long e, long f)
{
	return a + b * c - d * e + f;
}

NO_SANITIZER static long takes_nine(long a, long b, long c, long d, long e, long f, long g, long h,
				    long i)
{
	return a + b * c - d * e + f * g - h * i;
}

NO_SANITIZER static long double takes_long_doubles(long double a, long double b)
{
	return a * b;
}

NO_SANITIZER static long takes_some(int n, ...)
{
	long sum = 0;
	va_list args;

	va_start(args, n);
	while (n--)
		sum += va_arg(args, long);
	va_end(args);
	return sum;
}

static struct cm_callee_stack scan(const void *function)
{
	struct cm_callee_stack stack;

	(void)cm_object_refresh();
	cm_callee_scan(&stack, function);
	return stack;
}

Test(callee_stack, has_the_words_that_are_passed_there)
{
	struct cm_callee_stack stack = scan((void *)takes_nine);

	cr_expect_eq(takes_nine(1, 2, 3, 4, 5, 6, 7, 8, 9), 1 + 6 - 20 + 42 - 72);
	cr_expect_geq(stack.n_words, 3);
	cr_expect_leq(stack.n_words, 4);
	stack = scan((void *)takes_long_doubles);
	cr_expect_eq(takes_long_doubles(2.0L, 3.0L), 6.0L);
	cr_expect_eq(stack.n_words, 4);
}

Test(callee_stack, is_empty_for_certain_where_all_is_in_registers)
{
	struct cm_callee_stack stack = scan((void *)takes_six);

	cr_expect_eq(takes_six(1, 2, 3, 4, 5, 6), 1 + 6 - 20 + 6);
	cr_expect_eq(stack.n_words, 0);
	cr_expect(stack.is_complete);
	cr_expect_not(stack.is_open);
}

Test(callee_stack, is_open_for_a_variadic_function)
{
	struct cm_callee_stack stack = scan((void *)takes_some);

	cr_expect_eq(takes_some(2, 3L, 4L), 7);
	cr_expect_not(stack.is_complete);
	cr_expect(stack.is_open);
}

Test(callee_stack, is_open_where_there_is_no_code)
{
	cr_expect(scan((void *)16).is_open);
	cr_expect_not(scan((void *)16).is_complete);
}

/* By their prototypes; libc's own code and assembly. */
Test(callee_stack, is_right_about_libc)
{
	static const struct {
		char name[16];
		uint32_t n_words; /* at least */
		bool is_none;	  /* for certain */
	} cases[] = {{"getpid", 0, true},	{"syscall", 1, false}, {"clone", 1, false},
		     {"re_search_2", 3, false}, {"strtol", 0, false},  {"modfl", 2, false},
		     {"fopencookie", 4, false}, {"abs", 0, true}};
	void *handle = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	cr_assert_not_null(handle);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cm_callee_stack stack = scan(dlsym(handle, cases[i].name));

		cr_expect_geq(stack.n_words, cases[i].n_words, "%s: %u", cases[i].name,
			      stack.n_words);
		if (cases[i].is_none)
			cr_expect(stack.is_complete && !stack.n_words, "%s", cases[i].name);
		if (stack.is_complete)
			cr_expect_leq(stack.n_words, cases[i].n_words + 2, "%s: %u", cases[i].name,
				      stack.n_words);
	}
	cr_expect_eq(dlclose(handle), 0);
}
