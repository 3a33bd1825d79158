#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 100,000 calls open at once, on a stack that has just room for the frames that the README promises.
. "${0%/*}/lib.sh"

# README.md, "Limits": 128 bytes, the arguments' copy (112 at least) and 64 of alignment.
per_call=$((128 + 112 + 64))
n=100000

bare -- "$TARGETS/recurse" $n 67108864
need=$(sed -n 's/ bytes$//p' bare.err)
# Beside the frames: once a thread, the cold path's paths.
room=$(((need + (n + 1) * per_call + 16384 + 4095) / 4096 * 4096))
for trace in '' ' trace=off'; do
	profile "callee_*$trace" -- "$TARGETS/recurse" $n $room
	expect_status 0
	cmp bare.out out || fail "another output than bare"
	h5 profiling_data.h5 'calls("callee_down") == 50001' 'calls("callee_up") == 50000' \
		'attr("callee_down", "open") == 0' 'attr("callee_down", "dropped_events") == 0'
done
