#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark/measure.h in a program, on simulated counters: exact values, every refusal that a real
# LIKWID gives, and a caller that is as it was. Plumbing, not performance.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"

instructions=RETIRED_INSTRUCTIONS clocks=CPU_CLOCKS_UNHALTED
set_amd="$instructions:PMC0,$clocks:PMC1"

# call ARGUMENTS..: the program has ended well and its process is as before.
call()
{
	sim_reset
	run_into out err timeout 60 "$TARGETS/measure-call" "$@"
	expect_status 0
	expect_line out '^unchanged$'
	[ "$(grep -c '^at exit$' out)" = 1 ] || fail "its exit handlers did not run once"
	[ "$(grep -c '^written once$' out)" = 1 ] || fail "what it had written is there twice"
}

# complete, or unavailable REASON: and nothing was called then.
complete()
{
	expect_line out '^returned 0$'
	expect_line out '^status complete$'
	expect_line out '^reason $'
	expect_line out '^calls 1 was_called 1 fn_status 0$'
	expect_line out '^group_time yes$'
}

unavailable()
{
	expect_line out '^returned 0$'
	expect_line out '^status unavailable$'
	expect_line out "^reason $1\$"
	expect_line out '^calls 0 was_called 0 fn_status 0$'
	expect_line out '^group_time no$'
	! grep '^record' out || fail "records of no window"
	! grep -i error err || fail "LIKWID complains"
}

values()
{
	sed -n 's/^record //p' out >values
	cat >expected
	cmp -s values expected || fail "other values: $(diff values expected)"
}

amd()
{
	call "$@" "$set_amd" "${cpus:-0}" $instructions=1 $clocks=cycles
}

sim_setup zen3

### Exact values, CPU by CPU in the order declared, each in event order
cpus=1,0 amd
complete
values <<END
$instructions PMC0 1 1 $(sim_step 192 0 1)
$clocks PMC1 1 cycles $(sim_step 118 0 1)
$instructions PMC0 0 1 $(sim_step 192 0 0)
$clocks PMC1 0 cycles $(sim_step 118 0 0)
END
expect_line out '^mode DAEMON$'
expect_line out '^pid none$'
expect_line out '^cpuids 1 0$'
expect_line out '^cpu Simulated Zen3$'
[ ! -s err ] || fail "something on stderr"
[ -z "$(sim_pids)" ] || fail "a daemon is left"

### Two windows in one process; a child of the function's; its failure; a window within
amd twice
[ "$(grep -c '^status complete$' out)" = 2 ] || fail "no second window"
[ "$(grep -c "^record $instructions PMC0 0 1 $(sim_step 192 0)\$" out)" = 2 ] || fail "other values"
amd fork
complete
expect_line out '^waited$'
amd fail=3
expect_line out '^returned -125$' # ECANCELED
expect_line out '^status failed$'
expect_line out '^calls 1 was_called 1 fn_status 3$'
expect_line out '^error the function failed with 3$'
! grep '^record' out || fail "records of a function that failed"
[ -z "$(sim_pids)" ] || fail "a daemon is left after a failure"
amd nested
complete
expect_line out '^inner 0 unavailable native_state_already_owned$'

### What makes LIKWID behave otherwise is written down
export LIKWID_FORCE=1 LIKWID_FORCE_SETUP=1 LIKWID_PERF_FLAGS=0x1
amd
complete
for line in LIKWID_FORCE=1 LIKWID_FORCE_SETUP=1 LIKWID_PERF_FLAGS=0x1; do
	expect_line out "^variable $line\$"
done
unset LIKWID_FORCE LIKWID_FORCE_SETUP LIKWID_PERF_FLAGS

### LIKWID_PERF_PID: own; foreign, zero, empty, garbage, own with a blank
amd pid
complete
expect_line out '^pid own$'
for pid in 1 0 '' x ' 7' '0x10' '+1'; do
	LIKWID_PERF_PID=$pid amd
	unavailable foreign_or_invalid_perf_pid
	grep -qF "detail LIKWID_PERF_PID is \"$pid\", this process is " out || fail "not said: $pid"
done

### State that the program has initialised itself is left alone
for owned in topology numa perfmon; do
	amd own=$owned
	unavailable native_state_already_owned
done
expect_line out 'topology, NUMA, perfmon'
amd own=perfmon-alone
unavailable native_state_already_owned
expect_line out 'no topology, perfmon'

### LIKWID_IGNORE_CPUSET would change the affinity
LIKWID_IGNORE_CPUSET=1 amd
unavailable initialization_refused
expect_line out '^detail LIKWID_IGNORE_CPUSET'

### Events that this CPU does not have: all of them, and one of two
call NO_SUCH_EVENT:PMC0 0 NO_SUCH_EVENT=1
unavailable event_set_refused
call "$instructions:PMC0,NO_SUCH_EVENT:PMC1" 0 $instructions=1 NO_SUCH_EVENT=1
expect_line out '^status unavailable$'
expect_line out '^reason setup_refused$'
expect_line out '^detail LIKWID cannot count NO_SUCH_EVENT:PMC1 on CPU 0$'
expect_line out '^calls 0'

### No library, no daemon, an unknown platform, an unknown CPU
mkdir nothing
echo none >nothing/liblikwid.so.5
cp nothing/liblikwid.so.5 nothing/liblikwid.so
run_into out err timeout 60 env LD_LIBRARY_PATH="$work/nothing" PATH=/nonexistent \
	"$TARGETS/measure-call" "$set_amd" 0 $instructions=1 $clocks=1
unavailable library_unavailable
mv "$sim/likwid-accessD" "$sim/away"
printf '#!/bin/sh\nexit 1\n' >"$sim/likwid-accessD"
chmod +x "$sim/likwid-accessD"
amd
unavailable initialization_refused
expect_line out '^detail LIKWID ended with status 1 in perfmon_init'
mv "$sim/away" "$sim/likwid-accessD"
if setarch i686 true 2>/dev/null; then
	run_into out err timeout 60 setarch i686 "$TARGETS/measure-call" "$set_amd" 0 \
		$instructions=1 $clocks=1
	unavailable unsupported_platform
fi

### Fewer CPUs: what is outside of the affinity is refused before anything is called
if [ "$(nproc)" -gt 1 ]; then
	sim_reset
	run_into out err taskset -c 1 timeout 60 "$TARGETS/measure-call" "$set_amd" 1 \
		$instructions=1 $clocks=1
	complete
	expect_line out '^allowed 1$'
	expect_line out "^record $instructions PMC0 1 1 $(sim_step 192 0 1)\$"
	expect_line out '^unchanged$'
	run_into out err taskset -c 1 timeout 60 "$TARGETS/measure-call" "$set_amd" 0 \
		$instructions=1 $clocks=1
	expect_line out '^returned -22$'
	expect_line out "^error cpuids: CPU 0 is not in the calling thread's affinity \\(1\\)\$"
	expect_line out '^calls 0 was_called 0'
fi

sim_setup unsupported
amd
unavailable initialization_refused
expect_line out '^detail this CPU is not supported by this LIKWID'

### Fixed counters of an Intel CPU
sim_setup skx
call INSTR_RETIRED_ANY:FIXC0,CPU_CLK_UNHALTED_CORE:FIXC1 0 INSTR_RETIRED_ANY=1 CPU_CLK_UNHALTED_CORE=1
complete
values <<END
INSTR_RETIRED_ANY FIXC0 0 1 50000000
CPU_CLK_UNHALTED_CORE FIXC1 0 1 31200000
END
### One that reads NaN
call INSTR_RETIRED_ANY:FIXC0,L1D_REPLACEMENT:PMC1 0 INSTR_RETIRED_ANY=1 L1D_REPLACEMENT=1
expect_line out '^reason setup_refused$'
expect_line out '^detail LIKWID cannot count L1D_REPLACEMENT:PMC1 on CPU 0$'
expect_line out '^calls 0'
