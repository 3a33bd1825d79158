#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every way in which a process ends: its status is its own, and its published calls are there.
. "${0%/*}/lib.sh"

for row in return:0 exit:3 _exit:4 quick_exit:5 thread:7 abort:134 segv:139 term:143 kill:137; do
	how=${row%:*}
	compare callee_add -- "$TARGETS/endings" 5000 "$how"
	expect_status "${row#*:}"
	h5 profiling_data.h5 'calls("callee_add") == 5000' 'rows("callee_add") == 5000' \
		'attr("callee_add", "open") == 0' 'attr("callee_add", "dropped_events") == 0'
	case $how in
	return | exit | _exit | quick_exit | thread)
		h5 profiling_data.h5 "rank_attr('exit_status') == ${row#*:}"
		;;
	esac
	rm profiling_data.h5
done

# Calls in atexit handlers count too.
compare callee_add -- "$TARGETS/endings" 5000 atexit
h5 profiling_data.h5 'calls("callee_add") == 10000'
rm profiling_data.h5

# Killed inside a call: that one is open, the others are complete.
compare 'callee_*' -- "$TARGETS/endings" 5000 open
expect_status 137
h5 profiling_data.h5 'calls("callee_add") == 5000' 'calls("callee_call") == 1' \
	'attr("callee_call", "open") == 1' 'rows("callee_call") == 0'
rm profiling_data.h5

# The same when only totals are kept.
compare 'callee_* trace=off' -- "$TARGETS/endings" 5000 kill
h5 profiling_data.h5 'calls("callee_add") == 5000' 'rows("callee_add") == 0'
rm profiling_data.h5

# More calls than any ring holds, then SIGKILL.
compare 'callee_add max-events=unlimited' -- "$TARGETS/endings" 3000000 kill
h5 profiling_data.h5 'calls("callee_add") == 3000000' 'rows("callee_add") == 3000000' \
	'attr("callee_add", "dropped_events") == 0'
rm profiling_data.h5

# Killed from outside in the middle of the work: what is there was really called.
"$CALLMARK" run -s 'callee_add max-events=unlimited' -- "$TARGETS/calls-lazy" 2000000000 \
	>out 2>err </dev/null &
run_pid=$!
until find spool -name t0.dat | grep -q .; do
	kill -0 "$run_pid" || fail "no process to kill"
	sleep 0.1
done
sleep 0.3
program_pid=$(cut -d ' ' -f 1 "/proc/$run_pid/task/$run_pid/children")
kill -KILL "$program_pid"
status=0
wait "$run_pid" || status=$?
expect_status 137
h5 profiling_data.h5 '0 < calls("callee_add") < 2000000000' \
	'calls("callee_add") - rows("callee_add") in (0, 1)' \
	'attr("callee_add", "dropped_events") == 0'
expect_clean
