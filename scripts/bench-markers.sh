#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What callmark adds to a call that is a LIKWID marker region: around a FAKE liblikwid whose marker
# functions are empty (tests/targets/fake-likwid.c), less the four raw sigprocmask calls that keep
# signal handlers away from LIKWID's locks, which stand apart. And the exit work with the real
# LIKWID on SIMULATED counters, 100 regions and 2 threads, less LIKWID's second of initialisation.
# Prints a table with the limits; exit status 1 when one is missed.
#
#   scripts/bench-markers.sh [BUILD]      ROUNDS=9 CALLS=300000
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-9}
calls=${CALLS:-300000}
targets=$build/tests/targets
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLMARK_SPOOL="$work/spool"
mkdir "$work/spool"

fail()
{
	echo "bench-markers: $*" >&2
	exit 1
}
"$top/scripts/setup.sh" --bench
loop=$targets/bench-loop-lazy
[ -x "$loop" ] || fail "build first: ninja -C $build"
printf '#!/bin/sh\necho "%s"\n' "$targets/libfake-likwid.so" >"$work/fake-reader"
chmod +x "$work/fake-reader"

# call NAME KEYS: the loop with a marker environment; pinned, since a marker is bound to its CPU.
call()
{
	ns=$(env LD_PRELOAD="$build/preload/libcallmark-preload.so" \
		CALLMARK_READER="$work/fake-reader" CALLMARK_SYMBOLS="bench_empty trace=off $2" \
		CALLMARK_OUTPUT="$work/out.h5" LIKWID_MODE=1 LIKWID_EVENTS=FAKE LIKWID_THREADS=0 \
		LIKWID_FILEPATH="$work/marker-file" taskset -c 0 "$loop" "$calls" 2>"$work/err") ||
		fail "$1: $(tail -n 3 "$work/err")"
	echo "$1 $ns" >>"$work/samples"
}

# exit_work: from the return of main() to the end of callmark, less the second that LIKWID takes to
# initialise in callmark-reader (which does nothing but read), in milliseconds.
exit_work()
{
	rm -f "$work/state"
	(
		export PATH="$work:$PATH" HWLOC_XMLFILE="$work/topology.xml" HWLOC_THISSYSTEM=1
		likwid-perfctr -C 0,1 -g CLOCK -m "$build/cli/callmark" run -o "$work/out.h5" \
			-s 'bench_region_*' -- "$targets/bench-regions" >"$work/out" 2>"$work/err"
	) || fail "bench-regions: $(tail -n 3 "$work/err")"
	"$build/cli/callmark" export "$work/out.h5" --what likwid >"$work/rows" ||
		fail "no counters"
	[ "$(wc -l <"$work/rows")" = 201 ] || fail "not 100 regions on 2 CPUs"
	/usr/bin/python3 -c '
import os, sys
end = os.stat(sys.argv[1]).st_mtime_ns
start = float(next(line for line in open(sys.argv[2]) if line[0].isdigit()))
import time
offset = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
print("exit-work", (end / 1e9 - offset - start - 1.0) * 1e3)' "$work/out.h5" "$work/out" >>"$work/samples"
}

cp "$build/tests/sim/likwid-accessD" "$work/"
"$top/tests/sim/topology.sh" zen3 2 >"$work/topology.xml"

echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
echo "kernel:      $(uname -r)"
echo "measured:    $rounds rounds of $calls calls, ns a call, medians"
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	call marked ''
	call unmarked markers=off
	call sampled-out "sample=1000000000"
	exit_work
	echo "signals $(taskset -c 0 "$targets/bench-signals" "$calls")" >>"$work/samples"
done
echo "allowed-ms 300" >>"$work/samples"
echo "allowed 150" >>"$work/samples"
/usr/bin/python3 "$top/scripts/bench_table.py" \
	"own cost of a marked call [ns]|marked - unmarked - signals|allowed|1" \
	"exit work, 100 regions, 2 threads, SIMULATED [ms]|exit-work|allowed-ms|1" \
	"(signals blocked for it, four sigprocmask) [ns]|signals|allowed|" \
	"(a call that sample=N leaves out) [ns]|sampled-out - unmarked|allowed|" <"$work/samples"
