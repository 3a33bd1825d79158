#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The added cost of an intercepted call of a function that is local to the program (internal=yes),
# against that of a call of a library's function. Medians of interleaved rounds; the bare loop is
# subtracted. Prints a table with the limits; exit status 1 when one is missed.
#
#   scripts/bench-internal.sh [BUILD]      ROUNDS=9 CALLS=3000000
#
# Run it on a quiet machine: it takes about a minute.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-9}
calls=${CALLS:-3000000}
loop=$build/tests/targets/bench-internal
callmark=$build/cli/callmark
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLMARK_SPOOL="$work/spool" CALLMARK_CACHE="$work/cache"
mkdir "$work/spool"

fail()
{
	echo "bench-internal: $*" >&2
	exit 1
}
[ -x "$callmark" ] && [ -x "$loop" ] || fail "build first: ninja -C $build"

# sample NAME COMMAND..: one line "NAME NS" into the samples.
sample()
{
	name=$1
	shift
	ns=$("$@" 2>"$work/err") || fail "$name: $(tail -n 3 "$work/err")"
	echo "$name $ns" >>"$work/samples"
	rm -f "$work/out.h5"
}

# profiled CLOCK KEYS KIND: the file must hold every call.
profiled()
{
	rule="bench_empty $2"
	[ "$3" = plt ] || rule="bench_inner internal=yes $2"
	CALLMARK_CLOCK=$1 "$callmark" run --compress=none -o "$work/out.h5" -s "$rule" -- \
		"$loop" "$calls" "$3"
	n=$(/usr/bin/python3 -c 'import h5py, sys
print(sum(int(r.attrs["calls"]) for r in h5py.File(sys.argv[1])["rank0/regions"].values()))' \
		"$work/out.h5")
	[ "$n" = $((calls + 10000)) ] || fail "$3: $n calls were recorded"
}

echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
echo "kernel:      $(uname -r), clocksource $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
echo "measured:    $rounds rounds of $calls calls, ns a call less the bare loop's, medians"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
	for kind in plt internal; do
		sample $kind-bare "$loop" "$calls" $kind
		for clock in tsc monotonic; do
			sample $kind-off-$clock profiled $clock trace=off $kind
			sample $kind-full-$clock profiled $clock max-events=unlimited $kind
		done
	done
done
[ ! -t 2 ] || printf '\r%20s\r' '' >&2

set --
for clock in tsc monotonic; do
	set -- "$@" \
		"totals only, $clock: internal / PLT|internal-off-$clock - internal-bare|plt-off-$clock - plt-bare|1.5" \
		"full trace, $clock: internal / PLT|internal-full-$clock - internal-bare|plt-full-$clock - plt-bare|1.5"
done
/usr/bin/python3 "$top/scripts/bench_table.py" "$@" <"$work/samples"
