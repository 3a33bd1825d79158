#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lazy, -z now and -fno-plt callers, every calling convention, recursion: exact counts, right values.
. "${0%/*}/lib.sh"

for link in lazy now noplt; do
	compare callee_add -- "$TARGETS/calls-$link" 12345
	h5 profiling_data.h5 'calls("callee_add") == 12345' 'rows("callee_add") == 12345' \
		'attr("callee_add", "open") == 0' 'attr("callee_add", "skipped") == 0' \
		'rows_by_thread("callee_add") == [12345]' \
		"sites()[0][:2] == ('callee_add', 'calls-$link')" 'len(sites()) == 1'
	rm profiling_data.h5
done
h5_kind=$(readelf -rW "$TARGETS/calls-noplt" | awk '/callee_add/ {print $3}')
[ "$h5_kind" = R_X86_64_GLOB_DAT ] || fail "calls-noplt was not linked as meant: $h5_kind"

compare 'callee_*' -- "$TARGETS/abi" 100
expect_line out '^all values are right$'
h5 profiling_data.h5 'calls("callee_variadic") == 100' 'calls("callee_fill_large") == 100' \
	'calls("callee_fill_pair") == 100' 'calls("callee_long_double") == 100' \
	'calls("callee_errno") == 100' 'calls("callee_sixty") == 100' \
	'calls("callee_factorial") == 1000' 'calls("callee_step") == 900' \
	'calls("callee_scale_vector") in (0, 100)' \
	'inside("callee_step", "callee_factorial")' 'len(tags()) in (8, 9)'

# The same values when no record is kept, and with the other clock.
for clock in tsc monotonic; do
	CALLMARK_CLOCK=$clock
	export CALLMARK_CLOCK
	compare 'callee_* trace=off' -- "$TARGETS/abi" 100
	h5 profiling_data.h5 'calls("callee_sixty") == 100' 'rows("callee_sixty") == 0' \
		'calls("callee_factorial") == 1000'
	compare 'callee_*' -- "$TARGETS/abi" 100
	h5 profiling_data.h5 'calls("callee_sixty") == 100' 'rows("callee_sixty") == 100' \
		'calls("callee_factorial") == 1000'
done
h5 profiling_data.h5 'rank_attr("clock") == "monotonic"'
rm profiling_data.h5

# However the caller's frame is described, all stack arguments arrive.
for how in plain unoptimized frame-pointer no-tables size; do
	compare callee_sixty -- "$TARGETS/callers-$how" 100
	expect_line out '^0 wrong$'
	h5 profiling_data.h5 'calls("callee_sixty") == 300'
	rm profiling_data.h5
done

# The table of open calls grows by pages of 128: around its borders, and far beyond them.
for depth in 126 127 128 10000; do
	compare 'callee_* region=depth' -- "$TARGETS/depth" $depth
	h5 profiling_data.h5 "calls('depth') == 3 * ($depth + 1)" 'calls("depth") == rows("depth")' \
		'attr("depth", "open") == 0' 'attr("depth", "skipped") == 0'
	rm profiling_data.h5
done
