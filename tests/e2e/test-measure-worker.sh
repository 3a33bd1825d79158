#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark measure with worker objects: the order of the steps, every verdict, isolation and the
# deadline. A FAKE liblikwid stands in for all but the complete window on simulated counters.
. "${0%/*}/lib.sh"
. "${0%/*}/fake-likwid.sh"
. "${0%/*}/sim.sh"

cp "$TARGETS/worker-cases.so" "$TARGETS/worker-empty.so" .
export WORKER_LOG="$work/log"

# worker CASE STATUS OPTION..: its exit status; what it called is in $log, in one line.
worker()
{
	rm -f "$WORKER_LOG"
	export WORKER_CASE="$1"
	wanted=$2
	shift 2
	run_into out err timeout 60 "$CALLMARK" measure --events=A:PMC0,B:FIXC1 --cpus=0 --unit=A=1 \
		--unit=B=s "$@"
	log=
	[ ! -e "$WORKER_LOG" ] || log=$(tr '\n' ' ' <"$WORKER_LOG" | sed 's/ $//')
	expect_status "$wanted"
}

called()
{
	[ "$log" = "$*" ] || fail "$WORKER_CASE: called $log, expected $*"
}

# json EXPRESSION..: of the outcome, as r.
json()
{
	/usr/bin/python3 - out "$@" <<'END' || fail "$WORKER_CASE: $(cat out)"
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    r = json.load(f)
for text in sys.argv[2:]:
    if not eval(text):
        sys.exit(f"not true: {text}")
END
}

# failed CASE REASON CALLS OPTION..: nothing of a window is left.
failed()
{
	name=$1 reason=$2 calls=$3
	shift 3
	worker "$name" 1 --json ./worker-cases.so "$@"
	called "$calls"
	json "r['status'] == 'failed'" "r['records'] == []" "r['group_time_seconds'] is None" \
		"r['oracle'] in ('not_declared', 'not_checked')"
	json "r['reason'] == '''$reason'''"
}

fake_likwid
window='perf_workload perf_synchronize'

### Complete: the steps in their order, the probes too, once each
worker ok 0 --json --oracle=is_answer --blocking-probe=holds --probe=misses --probe=holds worker-cases.so
called "loaded perf_setup holds misses holds $window is_answer perf_cleanup"
json "r['status'] == 'complete'" "r['reason'] == ''" "r['oracle'] == 'passed'" \
	"[p['state'] for p in r['probes']] == ['held', 'missed', 'held']" "r['n_warnings'] == 1" \
	"[(x['event'], x['counter'], x['cpu_id'], x['unit'], x['value']) for x in r['records']] == \
	[('A', 'PMC0', 0, '1', 1000), ('B', 'FIXC1', 0, 's', 1001)]" "r['access_mode'] == 'DAEMON'" \
	"r['group_time_seconds'] == 0.25" "r['perf_pid'] is None" "not r['is_simulated']" \
	"r['identity']['source_sha256'] == '$(sha256sum worker-cases.so | cut -d' ' -f1)'"
[ ! -s err ] || fail "something on stderr"
worker ok 0 worker-cases.so
expect_line out '^status +complete$'
expect_line out '^A +PMC0 +0 +1000 +1$'
FAKE_LIKWID=big worker ok 0 --json worker-cases.so
json "r['records'][0]['value'] == 2**54 + 4"
FAKE_LIKWID=extra_fixc LIKWID_FORCE=1 worker ok 0 --json worker-cases.so
json "r['backend_added_events'] == ['EXTRA:FIXC2']" "r['likwid_variables'] == ['LIKWID_FORCE=1']"

### It runs in its own folder, whatever ours is
mkdir elsewhere
(cd elsewhere && worker cwd 0 ../worker-cases.so)
grep -qx "$work/elsewhere/.." log || grep -qx "$work" log || fail "ran in $(cat log)"

### Probes: all run; a blocking one that is missed or missing blocks, the oracle is not asked
worker ok 4 --json --oracle=is_answer --probe=misses --blocking-probe=misses --probe=holds worker-cases.so
called "loaded perf_setup misses misses holds perf_cleanup"
json "r['status'] == 'blocked'" "r['reason'] == 'the blocking probe misses was missed'" \
	"r['oracle'] == 'not_checked'" "r['records'] == []" "r['n_warnings'] == 1"
worker ok 4 --json --blocking-probe=no_such_function worker-cases.so
json "r['probes'][0]['state'] == 'missed'"

### The oracle judges the result of the workload that was counted; records stay
worker ok 5 --json --oracle=is_wrong worker-cases.so
called "loaded perf_setup $window is_wrong perf_cleanup"
json "r['status'] == 'invalid'" "r['reason'] == 'the oracle is_wrong failed with 6'" \
	"r['oracle'] == 'failed'" "len(r['records']) == 2"
worker ok 5 --json --oracle=no_such_function worker-cases.so
json "r['oracle'] == 'missing'" "r['reason'] == 'the required oracle no_such_function is missing'" \
	"len(r['records']) == 2"

### No counters: nothing but the set-up is run, the oracle not asked, the cleanup is
FAKE_LIKWID=init_exits worker ok 3 --json --oracle=is_answer worker-cases.so
called "loaded perf_setup perf_cleanup"
json "r['status'] == 'unavailable'" "r['reason'] == 'initialization_refused'" \
	"'perfmon_init' in r['detail']" "r['oracle'] == 'not_checked'" "r['records'] == []"
LIKWID_PERF_PID=1 worker ok 3 --json worker-cases.so
json "r['reason'] == 'foreign_or_invalid_perf_pid'"
### In access mode PERF the worker counts itself, and says so
FAKE_LIKWID=mode_perf worker ok 0 --json worker-cases.so
json "r['access_mode'] == 'PERF'" "r['perf_pid'] > 1"

### Each function fails
failed setup_fails 'perf_setup failed with -5' 'loaded perf_setup'
failed workload_fails 'perf_workload failed with 7' 'loaded perf_setup perf_workload perf_cleanup'
failed synchronize_fails 'perf_synchronize failed with 8' "loaded perf_setup $window perf_cleanup"
failed cleanup_fails 'perf_cleanup failed with 9' "loaded perf_setup $window perf_cleanup"
FAKE_LIKWID=stop_fails failed ok 'LIKWID could not stop the counters (-2)' \
	"loaded perf_setup $window perf_cleanup"
FAKE_LIKWID=nan failed ok 'LIKWID read a non-finite value for A:PMC0 on CPU 0' \
	"loaded perf_setup $window perf_cleanup"
### A cleanup that fails comes on top of what was before
worker cleanup_fails 1 --json --blocking-probe=misses worker-cases.so
json "r['reason'] == 'the blocking probe misses was missed; perf_cleanup failed with 9'"
worker cleanup_fails 1 --json --oracle=is_wrong worker-cases.so
json "r['reason'] == 'the oracle is_wrong failed with 6; perf_cleanup failed with 9'" \
	"r['records'] == []" "r['oracle'] == 'failed'"
FAKE_LIKWID=init_exits worker cleanup_fails 1 --json worker-cases.so
json "r['reason'] == 'initialization_refused; perf_cleanup failed with 9'"

### Each step crashes; the exit comes from inside
signal='the worker process was ended by signal'
failed constructor_crashes "$signal 6 (Aborted) in load" 'loaded'
failed setup_crashes "$signal 11 (Segmentation fault) in perf_setup" 'loaded perf_setup'
failed workload_crashes "$signal 11 (Segmentation fault) in perf_workload" \
	'loaded perf_setup perf_workload'
failed cleanup_crashes "$signal 11 (Segmentation fault) in perf_cleanup" \
	"loaded perf_setup $window perf_cleanup"
failed destructor_crashes "$signal 6 (Aborted) in end" "loaded perf_setup $window perf_cleanup"
failed exits_0 'the worker process ended with status 0 in perf_workload, without a result' \
	'loaded perf_setup perf_workload'
failed exits_3 'the worker process ended with status 3 in perf_workload' \
	'loaded perf_setup perf_workload'

### What it prints does no harm; of much, the last 4096 bytes are kept
worker prints 0 --json worker-cases.so
json "r['status'] == 'complete'" "'garbage' in r['last_output']"
worker prints_much 1 --json worker-cases.so
json "len(r['last_output']) == 4096" "r['last_output'].endswith('worker\nthe last line')"
expect_line err '^callmark: \| the last line$'

### Its code writes to what it hands over: garbage, half of it, much, other values
for name in garbage empty_object fills half forges_value forges_cpu; do
	worker $name 1 --json worker-cases.so
	json "r['reason'].startswith('malformed output: ')" "r['records'] == []" "r['oracle'] == 'not_declared'"
done

### The deadline: a worker that hangs, one that ignores SIGTERM
worker hangs 1 --json --timeout=1 worker-cases.so
json "r['reason'] == 'timed out after 1 s'" "r['detail'] == 'in perf_workload'" "1 <= r['elapsed_seconds'] < 20"
worker ignores_term 1 --json --timeout=1 worker-cases.so
json "r['reason'] == 'timed out after 1 s'" "r['detail'] == 'in perf_workload'" "3 <= r['elapsed_seconds'] < 20"
called 'loaded perf_setup perf_workload asked to end'

worker floods 1 --json --timeout=1 worker-cases.so
json "r['reason'] == 'timed out after 1 s'" "1 <= r['elapsed_seconds'] < 20"

### Nothing that it has started outlives it, in its group or out of it
worker grandchildren 0 --json worker-cases.so
[ "$(grep -c '^child' log)" = 2 ] || fail "no grandchildren: $(cat log)"
for pid in $(sed -n 's/^child //p' log); do
	[ ! -e "/proc/$pid" ] || fail "grandchild $pid is still there"
done

### ^C: nothing is left either
rm -f log
WORKER_CASE=hangs "$CALLMARK" measure --events=A:PMC0 --cpus=0 --unit=A=1 worker-cases.so >out 2>err &
pid=$!
for _ in $(seq 200); do
	! grep -q perf_workload log 2>/dev/null || break
	sleep 0.05
done
kill -TERM $pid
status=0
wait $pid || status=$?
expect_status 143
left=$(pgrep -f "^[^ ]*/callmark-worker" | while read -r p; do
	[ "$(readlink "/proc/$p/cwd" 2>/dev/null)" != "$work" ] || echo "$p"
done)
[ -z "$left" ] || fail "a worker is left: $left"

### Identity first: no user code runs when a file is another one
sum=$(sha256sum worker-cases.so | cut -d' ' -f1)
worker ok 0 --sha256="$(echo "$sum" | tr a-f A-F)" worker-cases.so
echo >>worker-cases.so
worker ok 3 --json --sha256="$sum" worker-cases.so
called ''
json "r['status'] == 'unavailable'" "r['reason'] == 'identity_mismatch'" \
	"r['detail'].startswith('$work/worker-cases.so: its SHA-256 is ')" "'$sum' in r['detail']"
cp "$TARGETS/worker-cases.so" .
worker ok 3 --json --sha256="$sum" no-such-file.so
json "r['reason'] == 'identity_mismatch'"

# target STATUS OPTION..
target()
{
	wanted_status=$1
	shift
	worker ok "$wanted_status" --json --target=libtarget.so.1 "$@" worker-cases.so
}
printf 'int answer(void) { return 42; }\n' >target.c
cc -shared -fPIC -o libtarget.so.1.2.3 -Wl,-soname,libtarget.so.1 -Wl,--build-id=0xfeedc0de target.c
ln -s libtarget.so.1.2.3 libtarget.so.1
sum=$(sha256sum libtarget.so.1 | cut -d' ' -f1)
target 0 --target-sha256="$sum" --target-build-id=FEEDC0DE --target-soname=libtarget.so.1 --target-version=1.2.3
json "r['identity']['target_sha256'] == '$sum'" "r['identity']['target_build_id'] == 'feedc0de'" \
	"r['identity']['target_soname'] == 'libtarget.so.1'" "r['identity']['target_version'] == '1.2.3'"
for option in --target-sha256="$(sha256sum target.c | cut -d' ' -f1)" --target-build-id=feed \
	--target-soname=libtarget.so.2 --target-version=1.2; do
	target 3 "$option"
	called ''
	json "r['reason'] == 'identity_mismatch'" "'declared is' in r['detail']"
done
worker ok 3 --json --target=target.c worker-cases.so
json "r['reason'] == 'identity_mismatch'" "'not an ELF file' in r['detail']"
worker ok 3 --json --target=missing.so worker-cases.so
called ''

### What cannot be loaded
worker ok 1 --json worker-empty.so
called loaded
json "r['reason'].endswith('worker-empty.so has no perf_workload')"
worker ok 1 --json target.c
json "r['reason'].startswith('cannot be loaded: ')"
worker ok 1 --json missing.so
json "r['reason'].startswith('cannot be loaded: ')"

### Complete windows on simulated counters, to the last digit
unset LD_LIBRARY_PATH FAKE_LIKWID FAKE_LIKWID_LOG
sim_setup zen3
rm -f log
WORKER_CASE=ok run_into out err timeout 60 "$CALLMARK" measure --json --cpus=0 --oracle=is_answer \
	--events=RETIRED_INSTRUCTIONS:PMC0,CPU_CLOCKS_UNHALTED:PMC1 --unit=RETIRED_INSTRUCTIONS=1 \
	--unit=CPU_CLOCKS_UNHALTED=1 worker-cases.so
expect_status 0
json "r['status'] == 'complete'" "r['is_simulated']" "r['cpu_name'] == 'Simulated Zen3'" \
	"[x['value'] for x in r['records']] == [$(sim_step 192 0), $(sim_step 118 0)]"
[ -z "$(sim_pids)" ] || fail "a daemon is left"
