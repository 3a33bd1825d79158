#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An output that cannot be written: refused before the program starts, and where it shows only at
# the end, nothing that was recorded is lost.
. "${0%/*}/lib.sh"

# refused OUTPUT: exit status 2, one line, nothing was started.
refused()
{
	run_options="-o $1"
	profile callee_add -- touch started
	expect_status 2
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines instead of one"
	expect_line err "$1|${1%/*}"
	expect_no_file started
}

# kept: the program was undisturbed, its spool is there, one line says so, recover brings it all.
kept()
{
	expect_status 3
	cmp -s bare.out out || fail "another output than bare"
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines instead of one"
	expect_line err 'callmark recover'
	find spool -name process | grep -q . || fail "no spool was kept"
	run_into out err "$CALLMARK" recover -o recovered.h5
	expect_status 0
	h5 recovered.h5 'calls("callee_add") == 777' 'rows("callee_add") == 777'
	expect_clean
	rm recovered.h5
}

: >file
refused no-such-folder/out.h5
refused file/out.h5

# The folder goes away while the program runs.
bare -- "$TARGETS/endings" 777 exit
mkdir folder
run_options='-o folder/out.h5'
profile callee_add -- sh -c "rmdir folder; exec '$TARGETS/endings' 777 exit"
kept

# Without `run` nobody looks before.
for output in no-such-folder/out.h5 file/out.h5 /proc/out.h5; do
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
		CALLMARK_OUTPUT="$output" "$TARGETS/endings" 777 exit
	kept
done

mount_small read-only 64k
mount -o remount,ro "$PWD/read-only"
refused read-only/out.h5
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
	CALLMARK_OUTPUT=read-only/out.h5 "$TARGETS/endings" 777 exit
expect_line err 'Read-only'
kept
