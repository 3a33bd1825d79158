#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that forbid themselves system calls (seccomp): none is killed for one of ours, and what
# was recorded before is in the file.
. "${0%/*}/lib.sh"

bare -- "$TARGETS/sandbox" 1000 kill
[ "$status" = 3 ] || skip "may not install a seccomp filter"

for rule in callee_add '* max-events=100000'; do
	for how in kill trap strict; do
		compare "$rule" -- "$TARGETS/sandbox" 1000 $how
		expect_status 3
		h5 profiling_data.h5 'calls("callee_add") == 1000' 'rows("callee_add") == 1000'
		run_into out err "$CALLMARK" inspect profiling_data.h5
		expect_status 0
		expect_line out 'seccomp filter'
	done
	# A filter under which our calls only fail is no reason to stop.
	compare "$rule" -- "$TARGETS/sandbox" 1000 errno
	expect_status 3
	h5 profiling_data.h5 'calls("callee_add") == 2000'
	compare "$rule" -- "$TARGETS/sandbox" 1000 later
	expect_status 3
	h5 profiling_data.h5 'calls("callee_add") == 2000'
done

# Without `run` the spool waits to be recovered, where the collector could not be started.
for how in kill later; do
	rm -f profiling_data.h5
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
		"$TARGETS/sandbox" 1000 $how
	expect_status 3
	run_into out err "$CALLMARK" recover
	expect_status 0
	h5 profiling_data.h5 'calls("callee_add") in (1000, 2000)'
	expect_clean
done
