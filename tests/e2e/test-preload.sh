#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The preload alone, without `run`: it collects at exit, waits for `recover` when killed.
. "${0%/*}/lib.sh"

preloaded()
{
	run_into out err env LD_PRELOAD="$PRELOAD" "$@"
}

bare -- "$TARGETS/calls-lazy" 1234
preloaded CALLMARK_SYMBOLS=callee_add "$TARGETS/calls-lazy" 1234
expect_status 0
cmp bare.out out || fail "another output than bare"
[ ! -s err ] || fail "something on stderr"
h5 profiling_data.h5 'calls("callee_add") == 1234' 'rows("callee_add") == 1234'
expect_clean
rm profiling_data.h5

preloaded CALLMARK_SYMBOLS='callee_add;callee_call' CALLMARK_OUTPUT=killed.h5 \
	"$TARGETS/endings" 500 open
expect_status 137
expect_no_file killed.h5
run_into out err "$CALLMARK" recover
expect_status 0
h5 killed.h5 'calls("callee_add") == 500' 'attr("callee_call", "open") == 1'
expect_clean

# Wrong rules: one line, the program undisturbed and unprofiled.
bare -- "$TARGETS/endings" 5 exit
bare_status=$status
for symbols in 'callee_add colour=red' 'callee_[a-' setjmp; do
	preloaded CALLMARK_SYMBOLS="$symbols" "$TARGETS/endings" 5 exit
	expect_status "$bare_status"
	cmp bare.out out || fail "another output than bare"
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines instead of one"
	expect_line err '^callmark\[[0-9]+\]: '
	expect_no_file profiling_data.h5
done
preloaded CALLMARK_CONFIG=no-such-file "$TARGETS/endings" 5 exit
expect_status "$bare_status"
expect_line err 'no-such-file'

# No rules at all: as if it were not there. Rules without a match: silence.
for symbols in '' no_such_function; do
	preloaded CALLMARK_SYMBOLS="$symbols" "$TARGETS/endings" 5 exit
	expect_status "$bare_status"
	[ ! -s err ] || fail "something on stderr"
	expect_no_file profiling_data.h5
done
expect_clean
