# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by benchmarks that compare medians of interleaved rounds. They set `top`, `rounds` and
# one_round(), which calls sample(). What they measure with may leave files in $left alone.
name_of_bench=$(basename "$0" .sh)
work=$(mktemp -d)
left=$work/left
trap 'rm -rf "$work"' EXIT
export CALLMARK_SPOOL="$work/spool"
mkdir "$work/spool" "$left"

fail()
{
	echo "$name_of_bench: $*" >&2
	exit 1
}

# sample NAME COMMAND..: one line "NAME NS" into the samples.
sample()
{
	name=$1
	shift
	ns=$("$@" 2>"$work/err") || fail "$name: $(tail -n 3 "$work/err")"
	echo "$name $ns" >>"$work/samples"
	rm -rf "$left" && mkdir "$left"
}

# run_rounds WHAT: says on which machine WHAT is measured, and does it.
run_rounds()
{
	echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
	echo "             $(lscpu | sed -n 's/^Thread(s) per core: *//p') threads a core"
	echo "kernel:      $(uname -r), clocksource $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
	echo "measured:    $rounds rounds of $1"
	echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
	round=0
	while [ "$round" -lt "$rounds" ]; do
		round=$((round + 1))
		[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
		one_round
	done
	[ ! -t 2 ] || printf '\r%20s\r' '' >&2
}

# table ROW..: of all samples, see bench_table.py.
table()
{
	/usr/bin/python3 "$top/scripts/bench_table.py" "$@" <"$work/samples"
}
