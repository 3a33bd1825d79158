#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 4,096 ranks: joining them is linear work in little memory, the file is links to one file a rank
# (`inspect` and h5py read all), and `merge` makes one file of a part of them. The times that
# were asked for are those of scripts/bench-ranks.sh; here only what no busy machine can excuse.
. "${0%/*}/lib.sh"

n=4096
run_into out err "$BENCH_JOIN" $n profiling_data.h5
expect_status 0
awk '{exit !($1 < 5 && $2 < 256)}' out || fail "joining takes too much [s, MiB]: $(cat out)"
[ "$(stat -c %s profiling_data.h5)" -lt 1000000 ] || fail "the file of links is large"
/usr/bin/python3 - <<'EOF' || fail "the file is not as expected"
import h5py
file = h5py.File("profiling_data.h5")
assert sorted(file) == sorted(["metadata"] + [f"rank{rank}" for rank in range(4096)])
assert list(file.attrs["missing_ranks"]) == []
assert isinstance(file.get("rank17", getlink=True), h5py.ExternalLink)
assert sum(file[f"rank{rank}/regions/callee_add"].attrs["calls"] for rank in range(4096)) == 12288
EOF
run_into out err "$CALLMARK" inspect -r 17,$((n - 1)) --json profiling_data.h5
expect_status 0
/usr/bin/python3 -c 'import json; assert [r["rank"] for r in json.load(open("out"))["ranks"]] == [17, 4095]' ||
	fail "inspect does not have the ranks"

# Moved without its shards it says which ranks are gone.
mkdir away
cp profiling_data.h5 away
run_into out err "$CALLMARK" merge -o away/all.h5 away/profiling_data.h5
expect_status 1
expect_line err 'holds no rank'
