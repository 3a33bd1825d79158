#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Full disks, of the spool and of the output (small tmpfs): no SIGBUS, exact counts, a message.
. "${0%/*}/lib.sh"

mount_small small 4m
bare -- "$TARGETS/calls-lazy" 3000000

# The spool fills up in the middle: fewer records, all calls.
CALLMARK_SPOOL="$work/small"
profile 'callee_add max-events=unlimited' -- "$TARGETS/calls-lazy" 3000000
expect_status 0
cmp bare.out out || fail "another output than bare"
h5 profiling_data.h5 'calls("callee_add") == 3000000' '0 < rows("callee_add") < 3000000' \
	'attr("callee_add", "dropped_events") == 3000000 - rows("callee_add")'
rm profiling_data.h5

# No room at all: still the program's own output and status.
dd if=/dev/zero of=small/filler bs=64k 2>/dev/null || :
profile callee_add -- "$TARGETS/calls-lazy" 3000000
expect_status 0
cmp bare.out out || fail "another output than bare"
[ -s err ] || fail "no message about a full spool"
[ ! -e profiling_data.h5 ] || h5 profiling_data.h5 'calls("callee_add") == 3000000'
rm -f profiling_data.h5 small/filler

# The output's disk is full: the spool stays and can be recovered elsewhere.
CALLMARK_SPOOL="$work/spool"
run_options='-o small/out.h5 --compress=none'
profile 'callee_add max-events=unlimited' -- "$TARGETS/calls-lazy" 3000000
expect_status 0
cmp bare.out out || fail "another output than bare"
expect_no_file small/out.h5
expect_line err 'No space left'
expect_line err 'callmark recover'
run_into out err "$CALLMARK" recover -o recovered.h5
expect_status 0
h5 recovered.h5 'calls("callee_add") == 3000000' 'rows("callee_add") == 3000000'
expect_clean
[ -z "$(find small -name '*h5*')" ] || fail "left on the full disk: $(find small)"

# A limit on file sizes is no SIGXFSZ.
rm -f recovered.h5
run_options=
profile 'callee_add max-events=unlimited' -- \
	sh -c "ulimit -f 512; exec '$TARGETS/calls-lazy' 3000000"
expect_status 0
cmp bare.out out || fail "another output than bare"
h5 profiling_data.h5 'calls("callee_add") == 3000000' 'rows("callee_add") > 0'
