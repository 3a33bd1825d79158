#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whatever the calling convention has a place for arrives, bit by bit: vectors and masks, complex
# and 128-bit numbers, structures by value, 90 arguments, Fortran's hidden ones, the static chain,
# the rounding mode. With and without unwind tables on either side.
. "${0%/*}/lib.sh"

for how in plain unoptimized no-tables cet; do
	for rule in 'torture_*' 'torture_* trace=off'; do
		compare "$rule" -- "$TARGETS/torture-$how" 200
		h5 profiling_data.h5 'calls("torture_variadic") == 200' \
			'calls("torture_block") == 200' 'calls("torture_large") == 200' \
			'calls("torture_nested") == 200' 'calls("torture_long_double") == 200' \
			'calls("torture_complex") == 200' 'calls("torture_long_complex") == 200' \
			'calls("torture_int128") == 200' 'calls("torture_round") == 400' \
			'calls("torture_ninety") == 400' 'calls("torture_ninety_tail") == 200' \
			'calls("torture_ninety_switch") == 200' \
			'calls("torture_avx") in (0, 200)' 'calls("torture_avx512") in (0, 200)' \
			'calls("torture_avx512") == calls("torture_mask")' \
			'attr("torture_nested", "skipped") == 0'
		rm profiling_data.h5
	done
done
if grep -qw avx512bw /proc/cpuinfo; then
	compare 'torture_*' -- "$TARGETS/torture-plain" 200
	h5 profiling_data.h5 'calls("torture_avx512") == 200'
fi

for how in debug stripped no-tables; do
	[ -x "$TARGETS/fortran-$how" ] || continue
	compare join_names_ sum_ninety_ -- "$TARGETS/fortran-$how" 200
	expect_line out 'left---on the right'
	h5 profiling_data.h5 'calls("join_names_") == 200' 'calls("sum_ninety_") == 200'
done

# libmvec's functions take and return whole vectors.
if [ -x "$TARGETS/vector-math" ]; then
	compare '_ZGV*' -- "$TARGETS/vector-math" 4096
	h5 profiling_data.h5 'len(tags()) == 5' \
		'[calls(t) * 4096 for t in tags() if "_sin" in t or "_exp" in t][0] >= 4096 * 512'
fi

# GCC's nested functions: the library calls trampolines, which call the library.
for how in lazy now; do
	[ -x "$TARGETS/nested-$how" ] || continue
	compare 'callee_*' qsort -- "$TARGETS/nested-$how" 100
	n_compared=$(sed -n 's/^\([0-9]*\) compared, 0 wrong$/\1/p' out)
	h5 profiling_data.h5 'calls("callee_call") == 200' 'calls("qsort") == 1' \
		"calls('callee_add') == 100 + ${n_compared:-0}" \
		'attr("callee_call", "skipped") == 0'
	rm profiling_data.h5
done
