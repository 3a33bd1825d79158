/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of its incoming stack does a function read? Its code says so: every access relative to
 * the stack or frame pointer, with the row of the unwind table that is in force there.
 *
 * The answer is only a lower bound where the code may look further: it takes an address there
 * (variadic functions, structs by value), jumps to a function that is not known, or has no table.
 *
 * hook-safe: no lock, no libc, but it takes microseconds, for large functions milliseconds. It
 * reads the code and tables of the function's object, which must stay loaded meanwhile.
 */
#ifndef CALLMARK_PRELOAD_CALLEE_STACK_H
#define CALLMARK_PRELOAD_CALLEE_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct cm_callee_stack {
	uint32_t n_words; /* of stack arguments that are read for certain */
	bool is_complete; /* and never more than these */
	bool is_open;	  /* nothing bounds what else is read: their address is taken, or there is
			     code that could not be looked at */
};

/* Never fails: without any knowledge, no word for certain and not complete. */
void cm_callee_scan(struct cm_callee_stack *ret_stack, const void *function);

#endif
