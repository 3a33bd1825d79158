#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Handlers that fill whole rings while a call is being recorded: every call has its record, and
# what the trace needs does not grow with the number of handlers.
. "${0%/*}/lib.sh"

n=${STORM:-60} # by hand: 3000
lines='callee_errno max-events=unlimited;callee_add max-events=unlimited;callee_call'
lines=$(printf '%s' "$lines" | tr ';' '\n')
printf '%s\n' "$lines" >rules
run_options='-c rules'

# counts: what the program says it called, into $adds and $errnos.
counts()
{
	expect_status 0
	read -r _ adds _ errnos _ <out
	[ -n "$errnos" ] || fail "no counts: $(cat out)"
}

for how in signals alternate; do
	profile -- "$TARGETS/storm" $how "$n" 20000
	counts
	h5 profiling_data.h5 "calls('callee_add') == $adds" "calls('callee_errno') == $errnos" \
		"rows('callee_add') == $adds" "rows('callee_errno') == $errnos" \
		'attr("callee_add", "dropped_events") == 0' 'attr("callee_errno", "open") == 0' \
		'attr("callee_errno", "skipped") == 0'
	expect_clean
done

# Handlers that jump out leave a call that may have ended, or not yet begun: it counts once or not.
# Nothing notices that the very last one was left, if no call follows.
for how in leaps alternate-leaps; do
	for below in '' below; do
		profile -- "$TARGETS/storm" $how "$n" 20000 $below
		counts
		h5 profiling_data.h5 "calls('callee_add') == $adds" \
			"abs(calls('callee_errno') - $errnos) <= $n" \
			'attr("callee_add", "open") == 0' 'attr("callee_errno", "open") <= 1' \
			"rows('callee_add') == $adds"
		expect_clean
	done
done

# Threads, one after the other, take over one another's storage.
profile -- "$TARGETS/storm" threads 500 2000
counts
h5 profiling_data.h5 "calls('callee_add') == $adds" "calls('callee_errno') == $errnos" \
	"rows('callee_add') == $adds" "rows('callee_errno') == $errnos"
expect_clean

# Without a trace.
run_options=
for how in signals leaps; do
	profile 'callee_* trace=off' -- "$TARGETS/storm" $how "$n" 20000 below
	counts
	h5 profiling_data.h5 "calls('callee_add') == $adds" \
		"abs(calls('callee_errno') - $errnos) <= $n"
done
