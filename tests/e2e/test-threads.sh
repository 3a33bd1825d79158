#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 8 threads: exact counts by thread, however the threads end.
. "${0%/*}/lib.sh"

each='[5000] * 8'
compare callee_add -- "$TARGETS/threads" 8 5000
h5 profiling_data.h5 'calls("callee_add") == 40000' "rows_by_thread('callee_add') == $each"

compare callee_add callee_call -- "$TARGETS/threads" 8 5000 exit
h5 profiling_data.h5 'calls("callee_add") == 40000' "rows_by_thread('callee_add') == $each" \
	'calls("callee_call") == 8' 'attr("callee_call", "unwound") == 8' \
	'attr("callee_call", "open") == 0'

# Eight that unwind for the first time, all at once.
compare callee_add callee_call -- "$TARGETS/threads" 8 5000 "$TARGETS/liblocked-plugin.so"
h5 profiling_data.h5 'calls("callee_call") == 8' 'attr("callee_call", "unwound") == 8' \
	'attr("callee_call", "open") == 0'

compare callee_add callee_wait -- "$TARGETS/threads" 8 5000 cancel
expect_line out '8 cancelled'
h5 profiling_data.h5 'calls("callee_add") == 40000' "rows_by_thread('callee_add') == $each" \
	'calls("callee_wait") == 8' 'attr("callee_wait", "unwound") == 8' \
	'attr("callee_wait", "open") == 0'

compare 'callee_add trace=off' -- "$TARGETS/threads" 200 100
h5 profiling_data.h5 'calls("callee_add") == 20000' 'rows("callee_add") == 0'
