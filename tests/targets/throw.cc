/* SPDX-License-Identifier: BSD-3-Clause */
/* throw N: N exceptions thrown through a frame of callee_call, and N calls that return. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "tests/targets/callee.h"

static int n_destroyed;

struct guard {
	~guard()
	{
		n_destroyed++;
	}
};

static void throw_it(void *arg)
{
	guard on_the_way;

	throw std::runtime_error(static_cast<const char *>(arg));
}

static void throw_from_below(void *arg)
{
	guard on_the_way;

	callee_call(throw_it, arg);
}

static void nothing(void *)
{
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	char text[] = "thrown";
	int n_caught = 0;

	for (long i = 0; i < n; i++) {
		try {
			callee_call(throw_from_below, text);
		} catch (const std::exception &error) {
			n_caught += error.what()[0] == 't';
		}
		callee_call(nothing, nullptr);
	}
	std::printf("%d caught, %d destroyed\n", n_caught, n_destroyed);
	return 0;
}
