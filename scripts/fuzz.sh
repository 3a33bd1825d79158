#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Run the fuzzers of tests/fuzz, one at a time and with the lowest priority, and print a table; exit
# status 1 when one of them crashes.
#
#   scripts/fuzz.sh BUILD [--runs N] [--seconds S] [--sample] [NAME..]
#
# BUILD: a build folder of clang; it is made where there is none. NAME: rules, spool, ...; all
# without. Each fuzzer goes on where it stopped, in BUILD/fuzz/NAME, until N executions (10 million)
# were made over all; with --seconds at most S seconds now. --sample: two seconds each, of which
# nothing is kept. CTRL-C ends it; what was found stays.
#
# A crash is a file BUILD/fuzz/NAME/crash-*: copy it to tests/data/NAME under a name that says what
# it is, where `meson test --suite unit` replays it from then on, mend what is wrong, and remove the
# file.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

fail()
{
	echo "fuzz: $*" >&2
	exit 2
}

number()
{
	case $2 in
	'' | *[!0-9]*) fail "$1 wants a number, not \"$2\"" ;;
	esac
}

runs=10000000 seconds=0 sample=
[ $# -gt 0 ] || fail "usage: $0 BUILD [--runs N] [--seconds S] [--sample] [NAME..]"
build=$1
shift
names=
while [ $# -gt 0 ]; do
	case $1 in
	--runs | --seconds)
		number "$1" "${2:-}"
		[ "$1" = --runs ] && runs=$2 || seconds=$2
		shift
		;;
	--sample) sample=yes ;;
	-*) fail "unknown option $1; see the top of $0" ;;
	*)
		[ -f "$top/tests/fuzz/fuzz-$1.c" ] || fail "no fuzzer is called $1"
		names="$names $1"
		;;
	esac
	shift
done
[ -n "$names" ] || names=$(cd "$top/tests/fuzz" && printf '%s\n' fuzz-*.c | sed 's/fuzz-//; s/\.c$//')
command -v clang >/dev/null || fail 'clang is not here: scripts/setup.sh --test installs it'

build=$(mkdir -p "$build" && cd "$build" && pwd)
cd "$top"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
trap 'exit 1' INT TERM HUP

[ -f "$build/build.ninja" ] ||
	CC=clang meson setup "$build" "$top" -Dfuzzers=true >"$log/build" 2>&1 || {
	tail -n 20 "$log/build" >&2
	fail "cannot set up $build"
}
targets=
for name in $names; do
	targets="$targets tests/fuzz/fuzz-$name"
done
# shellcheck disable=SC2086 # a list
nice -n 19 ninja -C "$build" $targets >"$log/build" 2>&1 || {
	tail -n 20 "$log/build" >&2
	fail "cannot build the fuzzers in $build"
}

# The longest input, and what else a target needs.
set_options()
{
	asan=malloc_context_size=4
	case $1 in
	elf) options=-max_len=8192 ;;
	bundle | h5-load)
		# HDF5's own leaks, and requests for memory that no machine has.
		options='-max_len=32768 -detect_leaks=0 -malloc_limit_mb=100000 -rss_limit_mb=8192'
		asan=$asan:detect_leaks=0:allocator_may_return_null=1
		;;
	rules | marker-file) options=-max_len=1024 ;;
	text) options=-max_len=256 ;;
	*) options=-max_len=4096 ;;
	esac
	[ ! -f "$top/tests/fuzz/$1.dict" ] || options="$options -dict=$top/tests/fuzz/$1.dict"
}

stat_of()
{
	sed -n "s/^stat::$1: *//p" "$2" | tail -n 1
}

# Files that say what went wrong.
count_crashes()
{
	find "$1" -maxdepth 1 \( -name 'crash-*' -o -name 'leak-*' -o -name 'timeout-*' -o \
		-name 'oom-*' \) | wc -l
}

row()
{
	printf '%-14s %12s %12s %10s %8s %8s\n' "$@"
}

fuzz()
{
	name=$1 folder=$build/fuzz/$1
	[ -z "$sample" ] || folder=$log/$name
	mkdir -p "$folder/corpus"
	set_options "$name"
	before=$(cat "$folder/executions" 2>/dev/null || echo 0)
	left=$((runs - before))
	if [ "$left" -le 0 ]; then
		n_crashes=$(count_crashes "$folder")
		row "$name" 0 "$before" - "$(find "$folder/corpus" -type f | wc -l)" "$n_crashes"
		[ "$n_crashes" = 0 ] || failed=1
		return
	fi
	seeds=
	[ ! -d "$top/tests/data/$name" ] || seeds=tests/data/$name
	[ "$seconds" = 0 ] || options="$options -max_total_time=$seconds"
	# shellcheck disable=SC2086 # a list
	ASAN_OPTIONS=$asan nice -n 19 "$build/tests/fuzz/fuzz-$name" -runs=$left $options \
		-timeout=60 -print_final_stats=1 -artifact_prefix="$folder/" "$folder/corpus" \
		$seeds </dev/null >"$folder/log" 2>&1 && status=0 || status=$?
	now=$(stat_of number_of_executed_units "$folder/log")
	echo $((before + ${now:-0})) >"$folder/executions"
	n_crashes=$(count_crashes "$folder")
	row "$name" "${now:-0}" $((before + ${now:-0})) \
		"$(stat_of average_exec_per_sec "$folder/log")" \
		"$(find "$folder/corpus" -type f | wc -l)" "$n_crashes"
	[ "$n_crashes" = 0 ] || failed=1
	[ "$status" = 0 ] || {
		grep -a -E '^==[0-9]+==|^SUMMARY|Assertion|runtime error|^Parse|Test unit written' \
			"$folder/log" | head -n 5 | sed 's/^/    /'
		failed=1
	}
}

failed=0
[ -z "$sample" ] || seconds=2
row target now 'over all' 'a second' corpus crashes
for name in $names; do
	fuzz "$name"
done
exit $failed
