#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of one intercepted, empty call: callmark against hand-written LD_PRELOAD wrappers
# (tests/targets/bench-wrapper.c) and uftrace. Medians of interleaved rounds; the bare loop is
# subtracted. Prints a table with the limits; exit status 1 when one is missed.
#
#   scripts/bench-call.sh [BUILD]      ROUNDS=9 CALLS=3000000 LINKS="lazy now noplt"
#
# Run it on a quiet machine: it takes about three minutes.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-9}
calls=${CALLS:-3000000}
links=${LINKS:-lazy now noplt}
targets=$build/tests/targets
callmark=$build/cli/callmark
. "$top/scripts/bench-rounds.sh"
export BENCH_FILE="$left/wrapper.out"
"$top/scripts/setup.sh" --bench
[ -x "$callmark" ] && [ -x "$targets/bench-loop-lazy" ] || fail "build first: ninja -C $build"

# wrapper KIND LOOP..: ring or file, monotonic or tsc.
wrapper()
{
	library=$targets/libbench-wrapper-$1.so
	shift
	env LD_PRELOAD="$library" "$@"
}

# profiled CLOCK KEYS LOOP..: through `callmark run`; the file must hold every call.
profiled()
{
	clock=$1 keys=$2
	shift 2
	CALLMARK_CLOCK=$clock "$callmark" run --compress=none -o "$left/out.h5" \
		-s "bench_empty $keys" -- "$@"
	[ -s "$left/out.h5" ] || fail "nothing was recorded"
}

traced()
{
	uftrace record --force --no-event --no-sched -F bench_empty -d "$left/uftrace.data" "$@"
}

one_round()
{
	for link in $links; do
		loop=$targets/bench-loop-$link
		sample "$link-bare" "$loop" "$calls"
		for kind in ring-monotonic file-monotonic ring-tsc file-tsc; do
			sample "$link-$kind" wrapper $kind "$loop" "$calls"
		done
		for clock in tsc monotonic; do
			sample "$link-off-$clock" profiled $clock trace=off "$loop" "$calls"
			sample "$link-full-$clock" profiled $clock max-events=unlimited "$loop" "$calls"
		done
		sample "$link-uftrace" traced "$loop" "$calls"
	done
	loop=$targets/bench-loop-lazy
	sample two-bare "$loop" "$calls" 2
	sample two-ring-tsc wrapper ring-tsc "$loop" "$calls" 2
	sample two-off-tsc profiled tsc trace=off "$loop" "$calls" 2
	sample two-full-tsc profiled tsc max-events=unlimited "$loop" "$calls" 2
	sample two-full-monotonic profiled monotonic max-events=unlimited "$loop" "$calls" 2
}

run_rounds "$calls calls, ns a call less the bare loop's, medians"

set --
for link in $links; do
	bare="$link-bare"
	set -- "$@" \
		"$link: totals only, TSC / ring wrapper|$link-off-tsc - $bare|$link-ring-monotonic - $bare|0.5" \
		"$link: totals only, MONOTONIC / ring wrapper|$link-off-monotonic - $bare|$link-ring-monotonic - $bare|1.15" \
		"$link: full trace, TSC / file wrapper|$link-full-tsc - $bare|$link-file-monotonic - $bare|0.55" \
		"$link: full trace, MONOTONIC / file wrapper|$link-full-monotonic - $bare|$link-file-monotonic - $bare|1.2" \
		"$link: full trace, TSC / uftrace record|$link-full-tsc - $bare|$link-uftrace - $bare|0.3"
done
case " $links " in
*' lazy '*)
	for kind in off-tsc full-tsc full-monotonic; do
		set -- "$@" "two threads / one, $kind|two-$kind - two-bare|lazy-$kind - lazy-bare|1.1"
	done
	# Only to see: what two rdtsc alone cost, and how the machine itself treats two threads.
	set -- "$@" \
		"(floor: ring wrapper with rdtsc, two threads / one)|two-ring-tsc - two-bare|lazy-ring-tsc - lazy-bare|" \
		"(floor: ring wrapper with rdtsc / clock_gettime)|lazy-ring-tsc - lazy-bare|lazy-ring-monotonic - lazy-bare|" \
		"(floor: file wrapper with rdtsc / clock_gettime)|lazy-file-tsc - lazy-bare|lazy-file-monotonic - lazy-bare|"
	;;
esac
table "$@"
