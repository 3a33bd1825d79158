#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What callmark takes from a program, measured: the start-up with the rule `*` of a program linked
# with 150 libraries, stack per intercepted call, memory, and bytes of the spool. Prints a table;
# exit status 1 when the start-up is more than twice the bare one.
#
#   scripts/bench-limits.sh [BUILD]      ROUNDS=21 (of the start-up)
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
rounds=${ROUNDS:-21}
n_libraries=150
preload=$build/preload/libcallmark-preload.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP
cd "$work"
mkdir spool
export CALLMARK_SPOOL="$work/spool" CALLMARK_OUTPUT="$work/out.h5"

fail()
{
	echo "bench-limits: $*" >&2
	exit 1
}
[ -e "$preload" ] || fail "build first: ninja -C $build"

# Each library defines 20 functions, and calls 20 of the next ones and some of libc.
make_library()
{
	echo '#include <stdio.h>' '#include <stdlib.h>' '#include <string.h>' | sed 's/> #/>\n#/g'
	for k in $(seq 0 19); do
		next=$((($1 + k + 1) % n_libraries))
		echo "long lib${next}_f$k(long n);"
		echo "long lib$1_f$k(long n);"
		echo "long lib$1_f$k(long n) {"
		echo "	char buf[32];"
		echo "	if (n >= 0) return n + $k;"
		echo "	snprintf(buf, sizeof(buf), \"%ld\", n);"
		echo "	return lib${next}_f$k(n / 2) + atol(buf) + (long)strlen(buf);"
		echo "}"
	done
}

frames()
{
	cat <<'END'
#include <stdarg.h>
#include <stdint.h>
#define HERE (uintptr_t)__builtin_frame_address(0)
uintptr_t lib0_frame(void) { return HERE; }
uintptr_t lib0_frame_wide(long a, long b, long c, long d, long e, long f, long g, long h, long i,
			  long j, long k, long l, long m, long n, long o, long p)
{
	return HERE + 0 * (a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p);
}
uintptr_t lib0_frame_variadic(int n, ...)
{
	va_list list;
	long sum = 0;

	va_start(list, n);
	while (n-- > 0)
		sum += va_arg(list, int);
	va_end(list);
	return sum ? HERE : 0;
}
END
}

build_program()
{
	libraries=
	for i in $(seq 0 $((n_libraries - 1))); do
		make_library "$i" >"lib$i.c"
		[ "$i" != 0 ] || frames >>lib0.c
		echo "liblib$i.so: lib$i.c"
		printf '\tgcc -w -O1 -shared -fPIC -o $@ $<\n'
		libraries="$libraries liblib$i.so"
	done >rules.mk
	for i in $(seq 0 $((n_libraries - 1))); do
		libraries="$libraries liblib$i.so"
	done
	{
		echo "all:$libraries"
		cat rules.mk
	} >Makefile
	make -s -j2 all || fail "cannot build the libraries"
	# shellcheck disable=SC2086 # a list of files
	gcc -O1 -pthread -o limits "$top/tests/torture/limits.c" -Wl,--no-as-needed $libraries \
		-Wl,-rpath,"$work" || fail "cannot build the program"
}

profiled()
{
	env LD_PRELOAD="$preload" CALLMARK_SYMBOLS='*' "$@"
}

# started [VARIABLE=VALUE..]: milliseconds from the start of ./limits, with these, to its main().
started()
{
	/usr/bin/python3 -c 'import os, sys, time
environment = {**os.environ, **dict(text.split("=", 1) for text in sys.argv[1:])}
end, other_end = os.pipe()
actions = [(os.POSIX_SPAWN_DUP2, other_end, 1)]
start = time.monotonic_ns()
os.posix_spawn("./limits", ["./limits", "start"], environment, file_actions=actions)
print((int(os.read(end, 100)) - start) / 1e6)
os.wait()' "$@"
}

median()
{
	sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"
}

# of_spool THREADS CALLS: files, bytes and KiB on the disk that a killed process leaves.
of_spool()
{
	rm -rf spool
	mkdir spool
	profiled ./limits spool "$1" "$2" >/dev/null 2>&1 || :
	find spool -type f -printf '%s %k\n' |
		awk '{n++; bytes += $1; disk += $2} END {print n, bytes, disk}'
}

data_bytes()
{
	find spool -name '*.dat' -printf '%s\n' | awk '{n += $1} END {print n + 0}'
}

# row TITLE BARE PROFILED DIFFERENCE REMARK
row()
{
	printf '%-54s %10s %10s %10s  %s\n' "$@"
}

start_up()
{
	for i in $(seq "$rounds"); do
		started >>bare
		started LD_PRELOAD="$preload" CALLMARK_SYMBOLS='*' >>any
	done
	bare=$(median bare) any=$(median any)
	verdict=$(awk -v a="$any" -v b="$bare" 'BEGIN {
		printf "%.2f times, at most 2: %s", a / b, a <= 2 * b ? "pass" : "MISS"}')
	row "start-up, $n_libraries libraries, rule * [ms]" "$(printf %.1f "$bare")" \
		"$(printf %.1f "$any")" "$(awk -v a="$any" -v b="$bare" 'BEGIN {printf "%.1f", a - b}')" \
		"$verdict"
}

stack()
{
	./limits stack >bare
	profiled ./limits stack >any
	n=0
	for title in 'no stack arguments' '10 stack arguments' 'variadic'; do
		n=$((n + 1))
		bare=$(cut -d ' ' -f $n bare) any=$(cut -d ' ' -f $n any)
		row "stack of a call, $title [bytes]" "$bare" "$any" $((any - bare)) ''
	done
}

memory()
{
	for threads in 0 8; do
		./limits memory $threads >"bare.$threads"
		profiled ./limits memory $threads >"any.$threads"
	done
	for n in 1 2; do
		kind=$(echo resident reserved | cut -d ' ' -f $n)
		bare=$(cut -d ' ' -f $n bare.0) any=$(cut -d ' ' -f $n any.0)
		row "memory, $kind, one thread [KiB]" "$bare" "$any" $((any - bare)) ''
		bare8=$(cut -d ' ' -f $n bare.8) any8=$(cut -d ' ' -f $n any.8)
		row "memory, $kind, each further thread [KiB]" $(((bare8 - bare) / 8)) \
			$(((any8 - any) / 8)) $(((any8 - any - bare8 + bare) / 8)) ''
	done
}

spool()
{
	one=$(of_spool 1 1)
	nine=$(of_spool 9 1)
	row 'spool on disk, a process [KiB]' '' "${one##* }" '' ''
	row 'spool on disk, each further thread [KiB]' '' $(((${nine##* } - ${one##* }) / 8)) '' ''
	of_spool 1 1000000 >/dev/null
	row 'spool, each call [bytes]' '' \
		"$(awk -v n="$(data_bytes)" 'BEGIN {printf "%.2f", n / 1e6}')" '' ''
}

build_program
echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs," \
	"kernel $(uname -r)"
echo "measured: medians of $rounds interleaved rounds (start-up)," \
	"load before $(cut -d ' ' -f 1-3 /proc/loadavg)"
row '' bare profiled difference ''
start_up
stack
memory
spool
case $verdict in *MISS) exit 1 ;; esac
