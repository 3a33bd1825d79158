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
. "$top/scripts/bench-rounds.sh"
export CALLMARK_CACHE="$work/cache"
[ -x "$callmark" ] && [ -x "$loop" ] || fail "build first: ninja -C $build"

# profiled CLOCK KEYS KIND: the file must hold every call.
profiled()
{
	rule="bench_empty $2"
	[ "$3" = plt ] || rule="bench_inner internal=yes $2"
	CALLMARK_CLOCK=$1 "$callmark" run --compress=none -o "$left/out.h5" -s "$rule" -- \
		"$loop" "$calls" "$3"
	n=$(/usr/bin/python3 -c 'import h5py, sys
print(sum(int(r.attrs["calls"]) for r in h5py.File(sys.argv[1])["rank0/regions"].values()))' \
		"$left/out.h5")
	[ "$n" = $((calls + 10000)) ] || fail "$3: $n calls were recorded"
}

one_round()
{
	for kind in plt internal; do
		sample $kind-bare "$loop" "$calls" $kind
		for clock in tsc monotonic; do
			sample $kind-off-$clock profiled $clock trace=off $kind
			sample $kind-full-$clock profiled $clock max-events=unlimited $kind
		done
	done
}

run_rounds "$calls calls, ns a call less the bare loop's, medians"

set --
for clock in tsc monotonic; do
	set -- "$@" \
		"totals only, $clock: internal / PLT|internal-off-$clock - internal-bare|plt-off-$clock - plt-bare|1.5" \
		"full trace, $clock: internal / PLT|internal-full-$clock - internal-bare|plt-full-$clock - plt-bare|1.5"
done
table "$@"
