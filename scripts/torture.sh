#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Does any program behave differently because it is profiled? Runs real programs (the cases of
# tests/torture/) bare twice, then under `callmark run` with the rule `*`, and again with every
# function of libc's string, stdio, malloc, pthread and libm's families by name. Output, errors,
# exit status and the files they leave must be those of the bare run; what differs between the two
# bare runs is not compared. Prints a table; exit status 1 when a case fails.
#
#   scripts/torture.sh [--sample] [BUILD [CASE..]]      KEEP=1 keeps the folder of the run
#
# --sample takes less than a minute. A case whose programs are not installed is skipped.
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

fail()
{
	echo "torture: $*" >&2
	exit 2
}
[ -x "$callmark" ] || fail "build first: ninja -C $build"
[ -n "$sample" ] || [ "$chosen" != '  ' ] || "$top/scripts/setup.sh" --bench

work=$(mktemp -d)
cleanup()
{
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
export LC_ALL=C.UTF-8 TZ=UTC CALLMARK_SPOOL="$work/spool"
export HERE="$top/tests/torture" IN="$work/in" PORT
PORT=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
cd "$work"
# Some of Python's tests become another user, who needs the rules, a spool and a place for the file.
mkdir -m 1777 spool
chmod 755 .
"$HERE/prepare.sh" "$IN"
"$HERE/families.sh" >libc.rules
echo '*' >any.rules
"$callmark" run -c libc.rules -- true 2>err || fail "a rule is refused: $(cat err)"

input_sums()
{
	find "$IN" -type f -exec sha256sum {} + | sort
}
input_sums >in.sums

# run_case NAME SECONDS COMMAND..: in an empty folder; $work/out and $work/err are what it did.
run_case()
{
	name=$1 limit=$2
	shift 2
	rm -rf cwd
	mkdir cwd
	status=0
	(cd cwd && exec timeout -k 5 "$limit" "$@" sh "$HERE/case.sh" "$name" \
		>"$work/out" 2>"$work/err" </dev/null) || status=$?
	{
		echo "exit status $status"
		find cwd -type f -exec sha256sum {} + | sort -k 2
		find cwd -type l -printf '%p -> %l\n' | sort
	} >>out
}

since()
{
	awk -v a="$1" -v b="$(date +%s.%N)" 'BEGIN {printf "%.1f", b - a}'
}

# bare_runs NAME SECONDS: leaves out.1 out.2 err.1 err.2 and $bare_seconds.
bare_runs()
{
	for n in 1 2; do
		started=$(date +%s.%N)
		run_case "$1" "$2"
		bare_seconds=$(since "$started")
		mv out "out.$n"
		mv err "err.$n"
	done
}

# The one line that `run` adds on purpose: most of the named functions are not called by a case.
without_notice()
{
	sed '/^callmark: [0-9]* of [0-9]* rules matched /d' err >err.clean
	mv err.clean err
}

# compared RULES: is the profiled run like the bare ones? Says in $masked how many lines were not
# compared as a whole.
compared()
{
	masked=0
	for stream in out err; do
		if ! /usr/bin/python3 "$HERE/same.py" $stream.1 $stream.2 $stream >same; then
			{
				echo "--- $name, $1 rules: $stream"
				cat same
			} >>differences
			return 1
		fi
		masked=$((masked + $(cat same)))
	done
}

row()
{
	printf '%-14s %-5s %7s %7s %9s %12s %7s %6s  %s\n' "$@"
}

spool_files()
{
	find "spool/callmark-$(id -u)" -mindepth 1 2>/dev/null | head -n 3
}

# What stays in the spool. A daemon that outlives the run (gpg-agent) removes its own a little later.
left_in_spool()
{
	for _ in $(seq 50); do
		[ -n "$(spool_files)" ] || return 0
		sleep 0.1
	done
	spool_files
}

# profiled_run NAME SECONDS RULES: one line of the table.
profiled_run()
{
	rm -rf h5
	mkdir -m 1777 h5
	started=$(date +%s.%N)
	run_case "$1" "$2" "$callmark" run -c "$work/$3.rules" -o "$work/h5/out.h5" --
	took=$(since "$started")
	without_notice
	# What was recorded must not be nothing: a run that profiles nothing changes nothing.
	recorded=$(/usr/bin/python3 "$HERE/recorded.py" h5 programs) || recorded='0 0 0'
	left=$(left_in_spool)
	result=FAIL
	if [ -n "$left" ]; then
		echo "--- $1, $3 rules: left in the spool: $left" >>differences
		head -n 3 err >>differences
		mv spool "left.$1.$3"
		mkdir -m 1777 spool
	elif compared "$3" && [ "$recorded" != '0 0 0' ]; then
		result=pass
	fi
	# shellcheck disable=SC2086 # three numbers
	row "$1" "$3" "$bare_seconds" "$took" $recorded "$masked" $result
	if [ $result = pass ]; then
		n_passed=$((n_passed + 1))
	else
		n_failed=$((n_failed + 1))
	fi
}

# missing PROGRAM..: the first one that is not there.
missing()
{
	for program; do
		if ! command -v "$program" >/dev/null; then
			echo "$program"
			return
		fi
	done
}

: >programs
: >differences
n_passed=0 n_failed=0 n_skipped=0 masked=0
row case rules 'bare s' 'prof. s' processes calls regions masked result
while read -r case in_sample seconds needs; do
	case $case in '#'* | '') continue ;; esac
	[ -z "$sample" ] || [ "$in_sample" = s ] || continue
	case $chosen in '  ' | *" $case "*) ;; *) continue ;; esac
	# shellcheck disable=SC2086 # a list of programs
	lacking=$(missing $needs)
	if [ -n "$lacking" ]; then
		n_skipped=$((n_skipped + 1))
		row "$case" '' '' '' '' '' '' '' "skipped: no $lacking"
		continue
	fi
	bare_runs "$case" "$seconds"
	profiled_run "$case" "$seconds" any
	profiled_run "$case" "$seconds" libc
done <"$HERE/cases.txt"
cat differences
input_sums | cmp -s - in.sums || fail "a case changed its input"
echo
echo "$n_passed passed, $n_failed failed, $n_skipped cases skipped;" \
	"$(sort -u programs | wc -l) different programs were profiled"
[ "$n_failed" = 0 ] || exit 1
