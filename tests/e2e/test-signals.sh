#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Handlers that make intercepted calls, and that leave by siglongjmp: nothing lost, nothing invented.
. "${0%/*}/lib.sh"

profile 'callee_*' -- "$TARGETS/signals" 500
expect_status 0
expect_clean
read -r _ adds _ factorials <out
[ "$factorials" -ge 1500 ] || fail "the handler ran too seldom: $(cat out)"
h5 profiling_data.h5 "calls('callee_add') == $adds" "calls('callee_factorial') == $factorials" \
	"calls('callee_step') == $((factorials / 3 * 2))" 'attr("callee_add", "open") == 0' \
	'attr("callee_add", "skipped") == 0' 'attr("callee_factorial", "skipped") == 0'

profile 'callee_* trace=off' -- "$TARGETS/signals" 500
expect_status 0
read -r _ adds _ factorials <out
h5 profiling_data.h5 "calls('callee_add') == $adds" "calls('callee_factorial') == $factorials"

compare 'callee_*' -- "$TARGETS/signals" 300 leap
h5 profiling_data.h5 'calls("callee_add") == 300' 'calls("callee_factorial") == 900' \
	'calls("callee_call") == 300' 'attr("callee_call", "skipped") == 300' \
	'attr("callee_call", "open") == 0'
