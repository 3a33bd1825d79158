#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Whole runs: 10 million calls to the finished HDF5 file against `uftrace record`, the collector's
# speed and memory, start-up with 2,000 rules, bytes a call. Prints a table with the limits; exit
# status 1 when one is missed.
#
#   scripts/bench-run.sh [BUILD]      ROUNDS=5 MILLIONS=100 (of the memory test)
#
# Needs 5 GB in TMPDIR and a quiet machine; takes about two minutes.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-5}
millions=${MILLIONS:-100}
targets=$build/tests/targets
callmark=$build/cli/callmark
collect=$build/collector/callmark-collect
preload=$build/preload/libcallmark-preload.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export CALLMARK_SPOOL="$work/spool"
mkdir "$work/spool"
samples=$work/samples

fail()
{
	echo "bench-run: $*" >&2
	exit 1
}
"$top/scripts/setup.sh" --bench
[ -x "$callmark" ] && [ -x "$targets/bench-loop-lazy" ] || fail "build first: ninja -C $build"

# timed COMMAND..: "SECONDS KIB"
timed()
{
	/usr/bin/python3 "$top/scripts/bench_time.py" "$@" 2>"$work/err" ||
		fail "$* : $(tail -n 3 "$work/err")"
}

seconds()
{
	name=$1
	shift
	result=$(timed "$@")
	echo "$name ${result% *}" >>"$samples"
}

# The spool of a process that made $1 calls and was killed before it could collect them.
make_spool()
{
	rm -rf "$work/spool"
	mkdir "$work/spool"
	env LD_PRELOAD="$preload" CALLMARK_SYMBOLS='callee_add max-events=unlimited' \
		CALLMARK_CLOCK=tsc "$targets/endings" "$1" kill >/dev/null 2>&1 || :
	directory=$(dirname "$(find "$work/spool" -name process)")
	[ -d "$directory" ] || fail "no spool"
}

whole_runs()
{
	loop=$targets/bench-loop-lazy
	export BENCH_WARM=0
	seconds run-callmark "$callmark" run --compress=none -o "$work/run.h5" \
		-s 'bench_empty max-events=unlimited' -- "$loop" 10000000
	file_bytes=$(stat -c %s "$work/run.h5")
	seconds run-uftrace uftrace record --force --no-event --no-sched -F bench_empty \
		-d "$work/uftrace.data" "$loop" 10000000
	rm -rf "$work/uftrace.data"
}

start_ups()
{
	started start-bare
	for rules in any blas; do
		started start-$rules env LD_PRELOAD="$preload" CALLMARK_CONFIG="$work/rules-$rules" \
			CALLMARK_OUTPUT="$work/start.h5"
	done
}

# started NAME ENV..: seconds from the start of the process until numpy has been imported.
started()
{
	name=$1
	shift
	now='import time; print(time.monotonic())'
	before=$(/usr/bin/python3 -c "$now")
	after=$("$@" /usr/bin/python3 -c "import numpy; $now" 2>"$work/err") ||
		fail "$name: $(tail -n 3 "$work/err")"
	echo "$name $(echo "$after $before" | awk '{print $1 - $2}')" >>"$samples"
}

# 2,000 functions of OpenBLAS, the library that numpy brings along.
blas=$(ldconfig -p | sed -n 's/.*libopenblas\.so\.0 .*=> //p' | head -n 1)
nm -D --defined-only "${blas:-$(ls /usr/lib/*/openblas-pthread/libopenblas.so.0)}" |
	awk '$2 == "T" {print $3}' | sed 's/@.*//' | sort -u | head -n 2000 >"$work/rules-blas"
[ "$(wc -l <"$work/rules-blas")" = 2000 ] || fail "fewer than 2,000 functions in OpenBLAS"
# The same names as another library would have them, and one that is there.
{
	sed 's/$/_other/' "$work/rules-blas" | head -n 1999
	echo cblas_dgemm
} >"$work/rules-any"

echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
echo "kernel:      $(uname -r), clocksource $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
echo "measured:    medians of $rounds interleaved rounds (start-up: $((3 * rounds)))"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"

round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	whole_runs
	start_ups
	start_ups
	start_ups
done

make_spool 10000000
spool_bytes=$(cat "$directory"/t*.dat | wc -c)
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	seconds collect-none "$collect" --keep --compress=none --output="$work/none.h5" "$directory"
	seconds collect-fast "$collect" --keep --compress=fast --output="$work/fast.h5" "$directory"
done
fast_bytes=$(stat -c %s "$work/fast.h5")
rm -f "$work"/*.h5

make_spool "${millions}000000"
result=$(timed "$collect" --compress=none --output="$work/large.h5" "$directory")
{
	echo "memory-mib $((${result#* } / 1024))"
	# 30 and 5 million calls a second are 0.333 and 2 s for 10 million.
	echo "limit-none 0.33333"
	echo "limit-fast 2"
	echo "limit-memory 256"
	awk -v a="$file_bytes" -v b="$spool_bytes" 'BEGIN {
		print "file-bytes", a / 1e7; print "spool-bytes", b / 1e7
		print "limit-file 16.1"; print "limit-spool 16"}'
} >>"$samples"

bad=0
/usr/bin/python3 "$top/scripts/bench_table.py" \
	'10 million calls, whole run / uftrace [s]|run-callmark|run-uftrace|0.5' \
	'collector, 10 million calls uncompressed [s]|collect-none|limit-none|1' \
	'collector, 10 million calls compressed [s]|collect-fast|limit-fast|1' \
	"collector, $millions million calls, peak [MiB]|memory-mib|limit-memory|1" \
	'start-up of numpy, 2,000 rules / bare [s]|start-any|start-bare|1.1' \
	'  2,000 rules that all match OpenBLAS / bare [s]|start-blas|start-bare|1.1' \
	'file, bytes a call (one thread)|file-bytes|limit-file|1' \
	'spool, bytes a call|spool-bytes|limit-spool|1' <"$samples" || bad=1
awk -v bytes="$fast_bytes" 'BEGIN {printf "compressed file: %.2f bytes a call\n", bytes / 1e7}'
exit $bad
