#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Windows with a FAKE liblikwid, for what no real one does: it changes the event set, reads nonsense,
# fails to stop, keeps its state, replaces handlers. Nothing is counted here.
. "${0%/*}/lib.sh"
. "${0%/*}/fake-likwid.sh"

# What is called when all goes well, in this order, and when perfmon could not be initialised.
opened='init_configuration topology_init numa_init affinity_init timer_init perfmon_init'
closed='timer_finalize numa_finalize affinity_finalize topology_finalize'
all="$opened perfmon_addEventSet perfmon_setupCounters perfmon_startCounters perfmon_stopCounters"
all="$all perfmon_finalize $closed"

# call WHAT..: this goes wrong; the caller's process is as it was whatever it is.
call()
{
	fake_likwid "$1"
	shift
	run_into out err timeout 60 "$TARGETS/measure-call" "$@" A:PMC0,B:FIXC1 0 A=1 B=s
	expect_status 0
	expect_line out '^unchanged$'
	[ "$(grep -c '^at exit$' out)" = 1 ] || fail "its exit handlers did not run once"
	[ "$(grep -c '^written once$' out)" = 1 ] || fail "what it had written is there twice"
	! grep 'perfmon was asked' err || fail "perfmon was asked too early"
}

steps()
{
	[ "$(fake_steps)" = "$*" ] || fail "$FAKE_LIKWID: called $(fake_steps), expected $*"
}

# unavailable WHAT REASON DETAIL: refused; refused in the trial already: nothing was initialised.
unavailable()
{
	call "$1"
	expect_line out '^returned 0$'
	expect_line out '^status unavailable$'
	expect_line out "^reason $2\$"
	expect_line out "^detail $3"
	expect_line out '^calls 0 was_called 0 fn_status 0$'
	! grep '^record' out || fail "$1: records of no window"
}

# failed WHAT ERROR: after the function was called once; all is finalised all the same.
failed()
{
	call "$1"
	expect_line out '^returned -5$' # EIO
	expect_line out '^status failed$'
	expect_line out "^error $2\$"
	expect_line out '^calls 1 was_called 1 fn_status 0$'
	expect_line out '^group_time no$'
	! grep '^record' out || fail "$1: records of a failed window"
	steps "$all"
}

### All well: values as they are, whole or not
call ''
expect_line out '^status complete$'
expect_line out '^record A PMC0 0 1 1000$'
expect_line out '^record B FIXC1 0 s 1001$'
expect_line out '^cpu Fake CPU$'
expect_line out "^library $work/fake/liblikwid.so.5\$"
steps "$all"
call big
expect_line out '^record A PMC0 0 1 18014398509481988$' # 2^54 + 4
call fraction
expect_line out '^record A PMC0 0 1 0.10000000000000001$'

### What Intel back ends add is listed, and has no records
call extra_fixc
expect_line out '^status complete$'
expect_line out '^added EXTRA:FIXC2$'
[ "$(grep -c '^record' out)" = 2 ] || fail "records of what was not asked for"

### How LIKWID gets at the counters
unavailable mode_unknown access_mode_unknown 'LIKWID does not say'
unavailable mode_null access_mode_unknown 'LIKWID does not say'
call mode_perf
expect_line out '^mode PERF$'
expect_line out '^pid none$'

### Set-up refused: by its return code, by dying, by not knowing the CPU
unavailable init_fails initialization_refused \
	'LIKWID has no access to the counters \(Permission denied\): No access, says the fake$'
steps "$opened" # the trial's: nothing is finalised there, and nothing was begun here
unavailable init_exits initialization_refused 'LIKWID ended with status 3 in perfmon_init$'
unavailable init_crashes initialization_refused 'LIKWID ended by signal 11 in perfmon_init$'
unavailable unknown_cpu initialization_refused 'this CPU is not supported'
unavailable other_cpus initialization_refused 'LIKWID has no access .*other CPUs'

### Another event set than the one declared
unavailable add_fails event_set_refused 'LIKWID cannot count A:PMC0,B:FIXC1 on this CPU'
unavailable fewer event_set_changed 'LIKWID took 1 of 2 events$'
unavailable extra_pmc event_set_changed 'LIKWID added EXTRA:PMC7$'
unavailable other_event event_identity_changed 'LIKWID has OTHER:PMC0 instead of A:PMC0$'
unavailable other_counter event_identity_changed 'LIKWID has B:PMC9 instead of B:FIXC1$'
unavailable no_names event_identity_changed 'LIKWID has :PMC0 instead of A:PMC0$'

### Refused after the trial: what was initialised is given back
unavailable setup_fails setup_refused 'LIKWID could not set up the counters'
steps "$opened perfmon_addEventSet perfmon_setupCounters perfmon_finalize $closed"
unavailable nan_before setup_refused 'LIKWID cannot count A:PMC0 on CPU 0$'
steps "$opened perfmon_addEventSet perfmon_setupCounters perfmon_finalize $closed"
unavailable start_fails start_refused 'LIKWID could not start the counters'
steps "$all" # maybe it has started some

### Nonsense after the window
failed stop_fails 'LIKWID could not stop the counters \(-2\)'
failed nan 'LIKWID read a non-finite value for A:PMC0 on CPU 0'
failed infinite 'LIKWID read a non-finite value for A:PMC0 on CPU 0'
failed negative 'LIKWID read a negative value for A:PMC0 on CPU 0'
failed time_infinite 'LIKWID read a non-finite group time'
failed time_nan 'LIKWID read a non-finite group time'
failed time_negative 'LIKWID read a negative group time'

### The function fails and so does the stop: the function's error stands
call stop_fails fail=4
expect_line out '^returned -125$'
expect_line out '^calls 1 was_called 1 fn_status 4$'
steps "$all"

### Finalisation that does not work: the other steps are taken, and the caller is told
failed numa_stays "LIKWID's NUMA state is still there after its end"
failed topology_stays "LIKWID's topology is still there after its end"

### What it leaves in the process is put back (call looks at that): all at once
call sigchld,affinity,environment
expect_line out '^status complete$'
call sigchld,affinity,environment,stop_fails
call sigchld,affinity,environment,setup_fails
! grep -q 'FAKE_LIKWID_WAS_HERE' out || fail "its variable is there"
