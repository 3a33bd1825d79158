#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions of one intercepted, empty call, counted by callgrind: the difference between two
# loop lengths, divided by the difference in calls, less the same of the bare loop. It does not
# depend on how busy the machine is.
#
#   scripts/count-instructions.sh [--check | --update] [BUILD]    default: print; build/
#
# --check compares with tests/data/instructions.txt: more than 3 % and one instruction above it is
# a regression (exit status 1). --update writes that file: do it when the change is meant, and say
# why in the commit.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
action=print
case ${1:-} in
--check | --update)
	action=${1#--}
	shift
	;;
esac
build=${1:-$top/build}
expected=$top/tests/data/instructions.txt
preload=$build/preload/libcallmark-preload.so
loop=$build/tests/targets/bench-loop-now
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
short=20000
long=120000

fail()
{
	echo "count-instructions: $*" >&2
	exit 1
}
command -v valgrind >/dev/null || fail "valgrind is missing: scripts/setup.sh installs it"
[ -f "$preload" ] && [ -x "$loop" ] || fail "$preload and $loop are not there: build first"

# total CALLS: instructions of the whole process, without those of children that it forks.
total()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --trace-children=no \
		"$loop" "$1" >"$work/out" 2>"$work/err" || fail "$(tail -n 5 "$work/err")"
	awk '/^==[0-9]+== Callgrind/ && !main {main = $1} $1 == main && /Collected/ {print $4}' "$work/err"
}

# per_call ENVIRONMENT..: hundredths of an instruction a call.
per_call()
{
	(
		for variable; do
			export "${variable?}"
		done
		first=$(total $short)
		second=$(total $long)
		echo $(((second - first) * 100 / (long - short)))
	)
}

bare=$(per_call)
for clock in tsc monotonic; do
	for trace in off full; do
		case $trace in
		off) rule='bench_empty trace=off' ;;
		full) rule='bench_empty max-events=unlimited' ;;
		esac
		rm -rf "$work/spool"
		mkdir "$work/spool"
		hundredths=$(per_call LD_PRELOAD="$preload" CALLMARK_SYMBOLS="$rule" \
			CALLMARK_CLOCK=$clock CALLMARK_SPOOL="$work/spool" \
			CALLMARK_OUTPUT="$work/$clock-$trace.h5")
		# Under valgrind the exit work may not get to start the collector: it is no part of this.
		find "$work/spool" "$work/$clock-$trace.h5" -name t0.map -o -name "$clock-$trace.h5" 2>/dev/null | grep -q . ||
			fail "$clock $trace: nothing was recorded"
		hundredths=$((hundredths - bare))
		echo "$clock $trace $((hundredths / 100)).$(printf %02d $((hundredths % 100)))"
	done
done >"$work/counted"

case $action in
print) cat "$work/counted" ;;
update)
	{
		echo '# Instructions an intercepted call: clock, trace, number; count-instructions.sh --update'
		cat "$work/counted"
	} >"$expected"
	cat "$expected"
	;;
check)
	[ -s "$expected" ] || fail "$expected is missing: write it with --update"
	grep -v '^#' "$expected" | awk -v counted="$work/counted" '
		{limit[$1 " " $2] = $3 * 1.03 + 1; was[$1 " " $2] = $3}
		END {
			while ((getline <counted) > 0) {
				key = $1 " " $2
				n++
				if (!(key in limit) || $3 > limit[key]) {
					print key ": " $3 " instructions a call, recorded are " was[key]
					bad = 1
				} else if ($3 < was[key] * 0.97 - 1)
					print "note: " key ": only " $3 " instructions a call, recorded are " was[key] ": --update"
			}
			exit bad || n != 4
		}'
	;;
esac
