/* SPDX-License-Identifier: BSD-3-Clause */
/* The main program of the generated ones: its inputs, its sum, and what other languages call. */
#include "internal.h"

#define DRIVER(name) void name(void);
#include "drivers.inc"
#undef DRIVER

volatile uint64_t internal_inputs[64];
volatile uint64_t internal_sum;

int64_t internal_input(int i);
void internal_use(int64_t x);
void internal_count(const char *name, int n, unsigned long least, unsigned long most);

KEEP int64_t internal_input(int i)
{
	return (int64_t)(input((unsigned int)i) >> 1);
}

KEEP void internal_use(int64_t x)
{
	use((uint64_t)x);
}

KEEP void internal_count(const char *name, int n, unsigned long least, unsigned long most)
{
	printf("COUNT\t%.*s\t%lu\t%lu\n", n, name, least, most);
}

int main(void)
{
	uint64_t x = 88172645463325252u;

	for (int i = 0; i < 64; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		internal_inputs[i] = x;
	}
#define DRIVER(name) name();
#include "drivers.inc"
#undef DRIVER
	printf("SUM\t%016lx\n", internal_sum);
	return (int)(internal_sum % 100);
}
