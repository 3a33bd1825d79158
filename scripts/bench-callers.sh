#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What callers=N adds to an intercepted, empty call once its path is known, and what libunwind would
# take for as many frames. Medians of interleaved rounds. Prints a table with the limit; exit status
# 1 when it is missed.
#
#   scripts/bench-callers.sh [BUILD]      ROUNDS=15 CALLS=800000 DEPTH=12
#
# Run it on a quiet machine: it takes about a minute.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-15}
calls=${CALLS:-800000}
depth=${DEPTH:-12}
limit_ns=400
targets=$build/tests/targets
callmark=$build/cli/callmark
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLMARK_SPOOL="$work/spool"
mkdir "$work/spool"

fail()
{
	echo "bench-callers: $*" >&2
	exit 1
}
"$top/scripts/setup.sh" --bench
[ -x "$callmark" ] && [ -x "$targets/bench-callers" ] || fail "build first: ninja -C $build"

# sample NAME COMMAND..: one line "NAME NS" into the samples.
sample()
{
	name=$1
	shift
	ns=$("$@" 2>"$work/err") || fail "$name: $(tail -n 3 "$work/err")"
	echo "$name $ns" >>"$work/samples"
	rm -f "$work/out.h5"
}

# profiled KEYS: through `callmark run`.
profiled()
{
	"$callmark" run --compress=none -o "$work/out.h5" -s "bench_empty $1" -- \
		"$targets/bench-callers" "$calls" "$depth"
	[ -s "$work/out.h5" ] || fail "nothing was recorded"
}

one_round()
{
	sample bare "$targets/bench-callers" "$calls" "$depth"
	for trace in off full; do
		keys=trace=off
		[ $trace = off ] || keys=max-events=unlimited
		sample $trace profiled "$keys"
		for n in 1 8 16 64; do
			sample $trace-$n profiled "$keys callers=$n"
		done
	done
	[ -x "$targets/bench-unwind" ] || return 0
	for how in backtrace saved cursor; do
		sample $how "$targets/bench-unwind" $((calls / 20)) "$depth" $how
	done
}

echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
echo "measured:    $rounds rounds of $calls calls, $depth functions below main, medians of ns a call"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
	one_round
done
[ ! -t 2 ] || printf '\r%20s\r' '' >&2
echo "limit $limit_ns" >>"$work/samples"

set --
for trace in off full; do
	set -- "$@" \
		"(an intercepted call, trace $trace / bare)|$trace - bare|bare|" \
		"(callers=1, trace $trace: added / $limit_ns ns)|$trace-1 - $trace|limit|" \
		"callers=8, trace $trace: added / $limit_ns ns|$trace-8 - $trace|limit|1" \
		"(callers=16, trace $trace: added / $limit_ns ns)|$trace-16 - $trace|limit|" \
		"(callers=64, trace $trace: added / $limit_ns ns)|$trace-64 - $trace|limit|"
done
if [ -x "$targets/bench-unwind" ]; then
	set -- "$@" \
		"(callers=8 added / unw_backtrace alone)|off-8 - off|backtrace|" \
		"(callers=8 added / it, and vector registers kept)|off-8 - off|saved|" \
		"(callers=8 added / a loop of unw_step)|off-8 - off|cursor|"
fi
/usr/bin/python3 "$top/scripts/bench_table.py" "$@" <"$work/samples"
