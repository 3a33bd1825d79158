/* SPDX-License-Identifier: BSD-3-Clause */
/* Does a local function that changes no register still change none? 1,000 calls, random values. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_GENERAL 15
#define VECTORS 128
#define MASKS (VECTORS + 32 * 64)
#define X87 (VECTORS + 2112)

uint8_t state_in[4096] __attribute__((aligned(64)));
uint8_t state_out[4096] __attribute__((aligned(64)));

void call_with_wide(void);
void call_with_narrow(void);

static const char *const names[N_GENERAL] = {"rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8",
					     "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};

static int compare(const char *what, size_t at, size_t n_bytes)
{
	if (!memcmp(state_in + at, state_out + at, n_bytes))
		return 0;
	printf("%s changed\n", what);
	return 1;
}

static int check(int is_wide)
{
	int n_changed = 0;
	char name[16];

	for (size_t i = 0; i < N_GENERAL; i++)
		n_changed += compare(names[i], 8 * i, 8);
	for (size_t i = 0; i < (is_wide ? 32 : 16); i++) {
		snprintf(name, sizeof(name), "vector %zu", i);
		n_changed += compare(name, VECTORS + 64 * i, is_wide ? 64 : 16);
	}
	for (size_t i = 0; is_wide && i < 7; i++) {
		snprintf(name, sizeof(name), "mask %zu", i + 1);
		n_changed += compare(name, MASKS + 8 * i, 2);
	}
	for (size_t i = 0; i < 3; i++) /* popped in the opposite order */
		if (memcmp(state_in + VECTORS + 8 * (2 - i), state_out + X87 + 8 * i, 8))
			n_changed += printf("st(%zu) changed\n", i);
	return n_changed;
}

int main(void)
{
	int is_wide = __builtin_cpu_supports("avx512f"), n_changed = 0;

	for (int round = 0; round < 1000; round++) {
		for (size_t i = 0; i < sizeof(state_in); i++)
			state_in[i] = (uint8_t)(rand() >> 4);
		for (size_t i = 0; i < 3; i++) { /* no NaN, which the x87 would quieten */
			double number = rand() / 3.0;

			memcpy(state_in + VECTORS + 8 * i, &number, sizeof(number));
		}
		if (is_wide)
			call_with_wide();
		else
			call_with_narrow();
		n_changed += check(is_wide);
	}
	printf("%d registers changed\n", n_changed);
	return n_changed != 0;
}
