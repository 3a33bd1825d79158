#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# C++ exceptions through intercepted frames are `unwound`, longjmp over them is `skipped`.
. "${0%/*}/lib.sh"

compare callee_call -- "$TARGETS/throw" 250
expect_line out '^250 caught, 500 destroyed$'
# A round throws through two intercepted frames, and returns through one.
h5 profiling_data.h5 'calls("callee_call") == 750' 'attr("callee_call", "unwound") == 500' \
	'attr("callee_call", "skipped") == 0' 'attr("callee_call", "open") == 0' \
	'rows("callee_call") == 750'

compare callee_call callee_leap callee_add -- "$TARGETS/leap" 250
expect_line out '^250 jumps, sum 500$'
h5 profiling_data.h5 'calls("callee_call") == 250' 'attr("callee_call", "skipped") == 250' \
	'calls("callee_leap") == 250' 'attr("callee_leap", "skipped") == 250' \
	'calls("callee_add") == 250' 'attr("callee_add", "skipped") == 0' \
	'attr("callee_call", "open") == 0' 'attr("callee_leap", "open") == 0'

compare 'callee_* trace=off' -- "$TARGETS/leap" 250
h5 profiling_data.h5 'calls("callee_call") == 250' 'attr("callee_call", "skipped") == 250' \
	'calls("callee_add") == 250'

# Through one frame and through fifty; caught, looked at and thrown on; of another language.
for depth in 1 2 50; do
	compare callee_call -- "$TARGETS/throws" deep 100 $depth
	expect_line out "^100 caught, 0 rethrown, $((100 * depth + 100)) destroyed\$"
	h5 profiling_data.h5 "calls('callee_call') == $((100 * depth))" \
		"attr('callee_call', 'unwound') == $((100 * depth))"
done
for how in rethrow foreign; do
	compare 'callee_*' -- "$TARGETS/throws" $how 100
	expect_line out '^100 caught, '
	h5 profiling_data.h5 'attr("callee_call", "unwound") == calls("callee_call")' \
		'calls("callee_call") in (200, 400)' 'attr("callee_call", "open") == 0'
done
compare 'callee_* trace=off' -- "$TARGETS/throws" deep 100 50
h5 profiling_data.h5 'calls("callee_call") == 5000' 'attr("callee_call", "unwound") == 5000'

# std::terminate aborts with the stack as it was: nothing was unwound.
compare callee_call -- "$TARGETS/throws" terminate
expect_status 134
expect_line err "what\(\):  thrown"
h5 profiling_data.h5 'calls("callee_call") == 2' 'attr("callee_call", "open") == 2'

# _Unwind_ForcedUnwind of a C program, left by longjmp.
for depth in 1 2 50; do
	compare 'callee_*' -- "$TARGETS/forced" 100 $depth
	h5 profiling_data.h5 "calls('callee_call') == $((100 * depth))" \
		"attr('callee_call', 'unwound') == $((100 * depth))" 'calls("callee_add") == 100'
done

# Cancelled at any instruction: a call that was begun counts once, whether it had ended or not.
for trace in '' ' trace=off'; do
	profile "callee_add$trace" -- "$TARGETS/async-cancel" 300
	expect_status 0
	expect_line out '^300 cancelled$'
	begun=$(sed -n 's/^begun //p' err)
	h5 profiling_data.h5 "$begun - 300 <= calls('callee_add') <= $begun" \
		'attr("callee_add", "skipped") == 0' 'attr("callee_add", "open") <= 30'
done
