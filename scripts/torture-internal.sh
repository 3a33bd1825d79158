#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does any program behave differently because its functions' entries are patched (internal=yes)?
# Generates programs (tests/internal/variants.sh: compilers, options, ways of linking), patches
# every function of theirs, and compares output, errors and exit status with the bare run, and the
# number of calls of each function with what the program counted itself. Then real binaries: every
# function that has a symbol in bash, python3.11, perl, libsqlite3, libssl, libcrypto, libperl and
# libm. Prints a table; exit status 1 when a row fails.
#
#   scripts/torture-internal.sh [--sample] [BUILD [NAME..]]     KEEP=1 keeps the folder of the run
#
# --sample takes about a minute. What is not installed is skipped.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
sample=
if [ "${1:-}" = --sample ]; then
	sample=1
	shift
fi
build=${1:-$top/build}
[ $# = 0 ] || shift
chosen=" $* "
callmark=$build/cli/callmark
parts=$top/tests/internal

fail()
{
	echo "torture-internal: $*" >&2
	exit 2
}
[ -x "$callmark" ] || fail "build first: ninja -C $build"
[ -n "$sample" ] || [ "$chosen" != '  ' ] || "$top/scripts/setup.sh" --bench

work=$(mktemp -d)
debug_file=
cleanup()
{
	[ -z "$debug_file" ] || rm -f "$debug_file"
	if [ "${KEEP:-0}" = 1 ]; then
		echo "kept: $work" >&2
	else
		rm -rf "$work"
	fi
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

for name in $(env | sed -n 's/^\(CALLMARK_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD LD_LIBRARY_PATH TMPDIR DISPLAY
export LC_ALL=C.UTF-8 TZ=UTC CALLMARK_SPOOL="$work/spool" CALLMARK_CACHE="$work/cache"
cd "$work"
# Some of Python's tests become another user, who needs a spool.
mkdir -m 1777 spool
chmod 755 .
mkdir cache

is_chosen()
{
	[ -z "$sample" ] || [ "$2" = s ] || return 1
	case $chosen in '  ' | *" $1 "*) ;; *) return 1 ;; esac
}

since()
{
	awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}'
}

row()
{
	printf '%-22s %7s %8s %8s %8s %7s %7s %7s  %s\n' "$@"
}

# share PATCHED REFUSED
share()
{
	awk -v p="$1" -v r="$2" 'BEGIN {print p + r ? sprintf("%.1f%%", 100 * p / (p + r)) : "-"}'
}

# finish NAME PATCHED REFUSED CHECKED BARE_S PROFILED_S RESULT: a row, and into the sums.
finish()
{
	row "$1" $(($2 + $3)) "$2" "$(share "$2" "$3")" "$4" "$5" "$6" "" "$7"
	n_patched=$((n_patched + $2))
	n_refused=$((n_refused + $3))
	if [ "$7" = pass ]; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
	fi
}

# complain NAME TEXT FILE: what was wrong, printed behind the table.
complain()
{
	{
		echo "--- $1: $2"
		head -n 12 "$3"
	} >>differences
}

in_spool()
{
	find "spool/callmark-$(id -u)" -mindepth 1 2>/dev/null | head -n 3
}

# in_folder STREAM COMMAND..: in prog's folder; leaves STREAM.out, STREAM.err and $status.
in_folder()
{
	stream=$1
	shift
	status=0
	(cd prog && exec timeout -k 5 120 "$@" >"../$stream.out" 2>"../$stream.err" </dev/null) || status=$?
	echo "exit status $status" >>"$stream.err"
}

# judge NAME GLOB: sets $result, $patched, $refused and $checked.
judge()
{
	result=pass patched=0 refused=0 checked=0
	for stream in out err; do
		if ! diff "bare.$stream" "prof.$stream" >diff.text; then
			complain "$1" "another $stream than bare" diff.text
			result=FAIL
		fi
	done
	in_spool >left
	if [ -s left ]; then
		complain "$1" 'left in the spool' left
		result=FAIL
		rm -rf "spool/callmark-$(id -u)"
	fi
	if ! /usr/bin/python3 "$parts/check_counts.py" -v out.h5 bare.out "$2" >counts 2>>refusals; then
		complain "$1" 'wrong counts' counts
		result=FAIL
	fi
	case $(tail -n 1 counts) in
	[0-9]*) read -r patched refused checked <<-END
		$(tail -n 1 counts)
		END
		;;
	esac
}

# generated NAME KIND N RANDOM HOW COMPILER FLAGS..: one row.
generated()
{
	name=$1 kind=$2 size=$3/$4 how=$5
	shift
	rm -rf prog out.h5
	if ! "$parts/build.sh" prog "$@" >build.log 2>&1; then
		complain "$name" 'does not build' build.log
		finish "$name" 0 0 0 - - FAIL
		return
	fi
	[ ! -f prog/debug-file ] || debug_file=$(cat prog/debug-file)
	started=$(date +%s.%N)
	in_folder bare ./prog
	bare_seconds=$(since "$started")
	object=prog
	[ "$how" != lib ] || object=libprog.so
	started=$(date +%s.%N)
	in_folder prof "$callmark" run -o "$work/out.h5" -s "$object:* internal=yes region={demangled}" \
		-- ./prog
	took=$(since "$started")
	judge "$name" "$object"
	# Whatever the compiler, the same sources give the same sum.
	sum=$(grep ^SUM bare.out || :)
	known=$(sed -n "s,^$kind $size ,,p" sums)
	if [ -z "$known" ]; then
		echo "$kind $size $sum" >>sums
	elif [ "$known" != "$sum" ]; then
		echo "$sum, others $known" >diff.text
		complain "$name" 'another sum than others, bare' diff.text
		result=FAIL
	fi
	finish "$name" "$patched" "$refused" "$checked" "$bare_seconds" "$took" $result
	[ -z "$debug_file" ] || rm -f "$debug_file"
	debug_file=
}

: >differences
: >refusals
: >sums
n_passed=0 n_failed=0 n_skipped=0 n_patched=0 n_refused=0
row program symbols patched share checked 'bare s' 'prof. s' '' result
. "$parts/variants.sh"
variants >variants
while read -r name in_sample kind n random how compiler flags; do
	is_chosen "$name" "$in_sample" || continue
	if ! command -v "$compiler" >/dev/null; then
		n_skipped=$((n_skipped + 1))
		row "$name" '' '' '' '' '' '' '' "skipped: no $compiler"
		continue
	fi
	# shellcheck disable=SC2086 # options
	generated "$name" "$kind" "$n" "$random" "$how" "$compiler" $flags
done <variants
echo "generated programs: $n_patched of $((n_patched + n_refused)) functions patched," \
	"$(share "$n_patched" "$n_refused")"
. "$parts/real.sh"
real_binaries
if [ -s refusals ]; then
	echo "refused in generated programs:"
	sed -n 's/^[^ ]*: \([a-z ]*\): .*/\1/p' refusals | sort | uniq -c | sort -rn
fi
cat differences
echo
echo "$n_passed passed, $n_failed failed, $n_skipped skipped; $n_patched functions patched"
[ "$n_failed" = 0 ] || exit 1
