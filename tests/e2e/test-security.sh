#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Nobody else reads the spool, is made to write through it, or has theirs taken over by ours.
. "${0%/*}/lib.sh"

uid=$(id -u)
umask 0 # whatever the user's is

# A spool in use: every folder 0700, every file 0600.
"$CALLMARK" run -s callee_add -- "$TARGETS/endings" 200000 hang >out 2>err </dev/null &
run_pid=$!
for i in $(seq 100); do
	[ ! -s out ] || break
	sleep 0.1
done
find spool -mindepth 1 -printf '%y %m %p\n' >modes
kill -TERM "$run_pid"
wait "$run_pid" || :
expect_line modes "^d 700 spool/callmark-$uid\$"
expect_line modes '^f 600 .*/t0.dat$'
! grep -v -E '^(d 700|f 600) ' modes || fail "a spool that others can read"
expect_clean
rm profiling_data.h5

# refused TEXT: the program runs, its spool is refused with that reason.
refused()
{
	profile callee_add -- "$TARGETS/calls-lazy" 10
	[ "$status" = 0 ] || [ "$status" = 2 ] || fail "exit status $status"
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
		CALLMARK_RUN_ID=known "$TARGETS/calls-lazy" 10
	expect_status 0
	expect_line out '^[0-9]+$'
	expect_line err "$1"
	[ "$(wc -l <err)" = 1 ] || fail "more than one line"
	[ -z "$(ls elsewhere)" ] || fail "written through a link: $(ls elsewhere)"
}

# Somebody was there first: a link, a file, a folder that all may write to.
mkdir elsewhere
rm -r "spool/callmark-$uid"
ln -s ../elsewhere "spool/callmark-$uid"
refused 'symbolic link'
rm "spool/callmark-$uid"
: >"spool/callmark-$uid"
refused 'not a folder'
rm "spool/callmark-$uid"
mkdir -m 0777 "spool/callmark-$uid"
refused 'written by others'
chmod 0700 "spool/callmark-$uid"
ln -s ../../elsewhere "spool/callmark-$uid/known"
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add CALLMARK_RUN_ID=known \
	"$TARGETS/calls-lazy" 10
expect_status 0
expect_line err 'symbolic link'
[ -z "$(ls elsewhere)" ] || fail "written through a link: $(ls elsewhere)"
rm "spool/callmark-$uid/known"

# The output's name is a link that somebody left: what it points to stays as it is.
echo precious >victim
ln -s victim profiling_data.h5
profile callee_add -- "$TARGETS/calls-lazy" 10
expect_status 0
[ "$(cat victim)" = precious ] || fail "written through a link"
rm profiling_data.h5
run_into out err "$CALLMARK" recover -o recovered.h5
expect_status 0
h5 recovered.h5 'calls("callee_add") == 10'
expect_clean

# A hostile spool: files of it are links.
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add CALLMARK_RUN_ID=known \
	"$TARGETS/endings" 1000 kill
spool=$(find "$PWD/spool" -name process -printf '%h\n')
mv "$spool/process" process
ln -s "$PWD/process" "$spool/process"
run_into out err "$CALLMARK" recover "$spool"
expect_status 1
[ "$(wc -l <err)" -ge 1 ] || fail "nothing said about a linked spool"
expect_no_file profiling_data.h5
[ -f process ] || fail "a file outside the spool was removed"
rm -r "$spool"

[ "$uid" = 0 ] || skip "the rest needs a second user"
command -v setpriv >/dev/null || skip "the rest needs setpriv"
as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
# shellcheck disable=SC2086 # a command
$as_nobody test -x "$TARGETS/endings" ||
	skip "the rest needs a checkout that another user can reach (not below /root)"
chmod 755 "$work"
mkdir -m 0777 shared
# shellcheck disable=SC2086 # a command
run_into out err $as_nobody env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
	CALLMARK_SPOOL="$work/shared" "$TARGETS/endings" 1000 kill
expect_status 137
theirs=$(find shared -name process -printf '%h\n')
[ -n "$theirs" ] || skip "another user cannot run the tests' programs"

# Not even root takes another user's spool over.
for folder in "$theirs" "${theirs%/*}" shared/callmark-65534; do
	run_into out err "$CALLMARK" recover "$folder"
	expect_status 1
	expect_line err 'belongs to another user'
	expect_no_file profiling_data.h5
	[ -d "$theirs" ] || fail "another user's spool was removed"
done
# Nor do they find ours.
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
	CALLMARK_SPOOL="$work/shared" "$TARGETS/endings" 1000 kill
# shellcheck disable=SC2086
run_into out err $as_nobody env CALLMARK_SPOOL="$work/shared" "$CALLMARK" recover shared/callmark-0
expect_status 1
[ -n "$(find shared/callmark-0 -name process)" ] || fail "the spool was removed by another user"

# In a set-user-ID program the preload does nothing, even where the loader lets it in.
library=libcallmark-test-$$.so
place=$(dirname "$(ldconfig -p | sed -n 's/^.*libc\.so\.6 .*x86-64.* => //p' | head -n 1)")
[ -w "$place" ] || skip "the rest needs the loader's folder"
trap 'rm -f "$place/$library"; cleanup' EXIT
install -m 4755 "$PRELOAD" "$place/$library"
install -m 4755 "$(command -v id)" set-id
rm -r shared/*
for program in "$work/set-id" "$(command -v id)"; do
	# shellcheck disable=SC2086
	run_into out err $as_nobody env LD_PRELOAD="$library" CALLMARK_SYMBOLS='*' \
		CALLMARK_VERBOSE=1 CALLMARK_SPOOL="$work/shared" \
		"$program" -u
	expect_status 0
	if [ "$program" = "$work/set-id" ]; then
		expect_line out '^0$|^65534$'
		! grep -q callmark err || fail "the preload did something in a set-user-ID program"
		[ -z "$(ls shared)" ] || fail "it wrote $(ls shared)"
	else
		[ -n "$(find shared -name process)" ] || fail "an ordinary program was not profiled: the test is no good"
	fi
done
