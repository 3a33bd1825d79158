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
. "$top/scripts/bench-rounds.sh"
"$top/scripts/setup.sh" --bench
[ -x "$callmark" ] && [ -x "$targets/bench-callers" ] || fail "build first: ninja -C $build"

# profiled KEYS: through `callmark run`.
profiled()
{
	"$callmark" run --compress=none -o "$left/out.h5" -s "bench_empty $1" -- \
		"$targets/bench-callers" "$calls" "$depth"
	[ -s "$left/out.h5" ] || fail "nothing was recorded"
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

run_rounds "$calls calls, $depth functions below main, medians of ns a call"
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
table "$@"
