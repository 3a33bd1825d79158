#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Calls before, during and after everything else: in constructors, in a thread that was started
# before ours ran, in destructors and atexit handlers.
. "${0%/*}/lib.sh"

rules='malloc* realloc free mmap* munmap write pthread_create pthread_join strlen strdup'
for n in 1 100 100000; do
	# shellcheck disable=SC2086 # a list of rules
	compare $rules callee_add -- "$TARGETS/early" $n counted
	expect_line out '^destructor$'
	# Calls that the thread made before its library's slots were patched went by, and on a busy
	# machine it makes none after that: one `free` is the destructor's.
	h5 profiling_data.h5 "$n + 100 <= calls('callee_add') <= $(cat counted) + 100" \
		'attr("callee_add", "open") == 0' 'calls("write") >= 1' 'calls("free") >= 1' \
		'attr("callee_add", "dropped_events") == 0'
done
compare '*' -- "$TARGETS/early" 1000 counted
h5 profiling_data.h5 'calls("callee_add") >= 1100'

# Handlers of atexit, and destructors, run before the profile is written.
compare '*' -- "$TARGETS/endings" 1000 atexit
h5 profiling_data.h5 'calls("callee_add") == 2000'
