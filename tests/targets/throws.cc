/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * throws deep N DEPTH: N exceptions, each through DEPTH frames of callee_call.
 * throws rethrow N: N exceptions that a frame in the middle of four catches and throws on.
 * throws foreign N: N exceptions of another language, through two frames, into a catch (...).
 * throws terminate: one that nobody catches, below callee_call.
 * A guard is destroyed in every frame on the way.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unwind.h>

#include "tests/targets/callee.h"

static long n_destroyed, n_rethrown;
static _Unwind_Exception foreign;

struct guard {
	~guard()
	{
		n_destroyed++;
	}
};

struct descent {
	int n_left;
	int rethrow_at;
	bool is_foreign;
};

static void descend(void *arg)
{
	descent *way = static_cast<descent *>(arg);
	guard on_the_way;

	if (way->n_left-- == 0) {
		if (way->is_foreign)
			_Unwind_RaiseException(&foreign);
		throw std::runtime_error("thrown");
	}
	if (way->n_left != way->rethrow_at) {
		callee_call(descend, arg);
		return;
	}
	try {
		callee_call(descend, arg);
	} catch (...) {
		n_rethrown++;
		throw;
	}
}

static long throw_and_catch(long n, descent way)
{
	long n_caught = 0;

	for (long i = 0; i < n; i++) {
		descent here = way;

		try {
			descend(&here);
		} catch (const std::exception &error) {
			n_caught += error.what()[0] == 't';
		} catch (...) {
			n_caught += 1;
		}
	}
	return n_caught;
}

static void drop_foreign(_Unwind_Reason_Code, _Unwind_Exception *)
{
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 1;
	descent way = {2, -1, false};
	long n_caught;

	foreign.exception_class = 0x52555354454d4f5aull;
	foreign.exception_cleanup = drop_foreign;
	if (!std::strcmp(how, "deep"))
		way.n_left = argc > 3 ? atoi(argv[3]) : 1;
	else if (!std::strcmp(how, "rethrow"))
		way = {4, 1, false};
	else if (!std::strcmp(how, "foreign"))
		way.is_foreign = true;
	else if (!std::strcmp(how, "terminate"))
		descend(&way);
	n_caught = throw_and_catch(n, way);
	std::printf("%ld caught, %ld rethrown, %ld destroyed\n", n_caught, n_rethrown, n_destroyed);
	return 0;
}
