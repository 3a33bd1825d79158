# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the end-to-end tests share; sourced first by each. From meson: CALLMARK (the program),
# TARGETS (folder of the programs to profile), E2E (this folder).
#
#   compare RULE.. -- PROGRAM ARGS    run it bare and under `callmark run`: same stdout, stderr and
#                                     exit status ($status); the spool is empty afterwards
#   profile RULE.. -- PROGRAM ARGS    under `callmark run` only: out, err, $status
#   h5 FILE EXPRESSION..              the file is as layout.md says, and each expression is true
#   sites FILE STATE KIND            what the file says of such sites
#   expect_status N, expect_line FILE REGEX, expect_no_file FILE.., expect_clean
#   fail TEXT, skip TEXT              the end of the test
#
# stdin of both runs is the file `in` where there is one. Each test has a folder of its own ($work)
# which is the working directory; it is kept when the test fails and KEEP=1.
set -eu
: "${CALLMARK:?}" "${TARGETS:?}" "${E2E:?}"

work=$(mktemp -d "${TMPDIR:-/tmp}/callmark-e2e.XXXXXX")
mounts=
cleanup()
{
	result=$?
	cd /
	for mount in $mounts; do
		umount -l "$mount" || :
	done
	if [ "$result" != 0 ] && [ "${KEEP:-0}" = 1 ]; then
		echo "kept: $work" >&2
	else
		rm -rf "$work" 2>/dev/null || rm -rf "$work" # a killed run may still be tidying up
	fi
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP
cd "$work"

# Nothing of the caller's environment may steer what is tested.
for name in $(env | sed -n 's/^\(CALLMARK_[A-Z_]*\)=.*/\1/p'); do
	unset "$name"
done
unset LD_PRELOAD LD_LIBRARY_PATH TMPDIR
export LC_ALL=C.UTF-8 CALLMARK_SPOOL="$work/spool" CALLMARK_CACHE="$work/cache"
mkdir spool
status=0

fail()
{
	echo "FAIL: $*" >&2
	for file in out err; do
		if [ -s "$work/$file" ]; then
			echo "--- $file:" >&2
			head -n 20 "$work/$file" >&2
		fi
	done
	exit 1
}

skip()
{
	echo "SKIPPED: $*"
	exit 77
}

# run_into OUT ERR COMMAND..: never fails; the exit status is left in $status.
run_into()
{
	out_file=$1 err_file=$2
	shift 2
	in_file=/dev/null
	if [ -f in ]; then
		in_file=in
	fi
	status=0
	"$@" <"$in_file" >"$out_file" 2>"$err_file" || status=$?
}

# Rules before --, then the program. $run_options are further options of `callmark run`.
run_options=
profile()
{
	n_rules=0
	for arg; do
		[ "$arg" != -- ] || break
		n_rules=$((n_rules + 1))
	done
	# The list is turned round once: every rule R becomes -s R, in the same order.
	n_args=$#
	i=0
	for arg; do
		i=$((i + 1))
		if [ "$i" -le "$n_rules" ]; then
			set -- "$@" -s
		fi
		set -- "$@" "$arg"
	done
	shift "$n_args"
	# shellcheck disable=SC2086 # options, split on purpose
	run_into out err "$CALLMARK" run $run_options "$@"
}

# Everything up to -- is dropped: the bare run.
bare()
{
	while [ "$1" != -- ]; do
		shift
	done
	shift
	run_into bare.out bare.err "$@"
}

compare()
{
	bare "$@"
	bare_status=$status
	profile "$@"
	cmp -s bare.out out || fail "another stdout than bare: $(diff bare.out out | head -n 10)"
	# How a program was killed is said by the shell there, by `run` here.
	for file in bare.err err; do
		sed -E '/^(callmark: .*: )?(Killed|Aborted|Terminated|Segmentation fault)/d' \
			$file >$file.clean
	done
	cmp -s bare.err.clean err.clean || fail "another stderr: $(diff bare.err.clean err.clean)"
	expect_status "$bare_status"
	expect_clean
}

expect_status()
{
	[ "$status" = "$1" ] || fail "exit status $status, expected $1"
}

expect_line()
{
	grep -Eq -- "$2" "$1" || fail "$1 has no line like '$2'"
}

expect_no_file()
{
	for file; do
		[ ! -e "$file" ] || fail "$file is there"
	done
}

# No spool, temporary file, shard or descriptor of ours is left behind.
expect_clean()
{
	left=$(find spool -mindepth 2 2>/dev/null | head -n 5)
	[ -z "$left" ] || fail "left in the spool: $left"
	left=$(find . -maxdepth 1 -name '.profiling*' ! -name '*.lock' | head -n 5)
	[ -z "$left" ] || fail "left beside the output: $left"
}

h5()
{
	/usr/bin/python3 "$E2E/check_profile.py" "$@" || fail "$1 is not as expected"
}

# sites FILE STATE KIND: the symbols of such sites and their reasons, one a line, sorted.
sites()
{
	/usr/bin/python3 - "$@" <<'END'
import sys
import h5py

text = lambda value: value.decode() if isinstance(value, bytes) else value
rows = h5py.File(sys.argv[1])["rank0/sites"][:]
print("\n".join(sorted(f'{text(row["symbol"])} {text(row["reason"])}'.rstrip() for row in rows
                       if text(row["state"]) == sys.argv[2] and text(row["kind"]) == sys.argv[3])))
END
}

# mount_small FOLDER BYTES[k|m]: a tmpfs that is soon full; skips the test where mount may not be.
mount_small()
{
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2" tmpfs "$1" 2>/dev/null || skip "may not mount a small tmpfs"
	mounts="$mounts $PWD/$1"
}

# gdb_count PROGRAM SHELL_ARGUMENTS FUNCTION..: runs it under gdb; count_of FUNCTION says how often
# it was entered. Skips the test where gdb may not trace.
gdb_count()
{
	gdb_program=$1 gdb_arguments=$2
	shift 2
	n_breaks=0
	for function; do
		shift
		n_breaks=$((n_breaks + 1))
		set -- "$@" -ex "break $function" -ex "ignore $n_breaks 999999999"
	done
	gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' "$@" \
		-ex "run $gdb_arguments" -ex 'info breakpoints' "$gdb_program" \
		>gdb.out 2>&1 </dev/null || :
	if ! grep -q 'already hit' gdb.out; then
		cat gdb.out >&2
		skip "gdb cannot trace here"
	fi
}

count_of()
{
	awk -v name="<$1" '
		index($0, name ">") || index($0, name "+") {here = 1}
		here && /already hit/ {print $4; found = 1; exit}
		END {if (!found) print 0}' gdb.out
}
