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
