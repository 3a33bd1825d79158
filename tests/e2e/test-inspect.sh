#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `inspect` of what `run` wrote: the table and the JSON say what h5py reads.
. "${0%/*}/lib.sh"

compare 'callee_*' -- "$TARGETS/threads" 4 2500 exit
run_into out err "$CALLMARK" inspect profiling_data.h5
expect_status 0
[ ! -s err ] || fail "something on stderr"
expect_line out 'callee_add .*10,?000'
expect_line out 'callee_call .*4'
if grep -q '.\{81\}' out; then
	fail "a line is wider than 80 columns: $(grep '.\{81\}' out | head -n 1)"
fi
if grep -q "$(printf '\033')" out; then
	fail "colours without a terminal"
fi

run_into out err "$CALLMARK" inspect --include 'callee_a' profiling_data.h5
expect_line out callee_add
if grep -q callee_call out; then
	fail "--include does not filter"
fi
run_into out err "$CALLMARK" inspect --exclude 'callee_a' profiling_data.h5
expect_line out callee_call
if grep -q callee_add out; then
	fail "--exclude does not filter"
fi

run_into out err "$CALLMARK" inspect --json profiling_data.h5
expect_status 0
/usr/bin/python3 - <<'END' || fail "the JSON is not what h5py reads"
import json

import h5py

with open("out", encoding="utf-8") as text:
    found = json.dumps(json.load(text))
with h5py.File("profiling_data.h5") as file:
    for name, region in file["rank0/regions"].items():
        assert json.dumps(name) in found, name
        for key in ("calls", "total_ns", "min_ns", "max_ns"):
            assert f": {int(region.attrs[key])}" in found, (name, key)
END

# A capped region says so.
profile 'callee_add max-events=10' -- "$TARGETS/calls-lazy" 500
run_into out err "$CALLMARK" inspect profiling_data.h5
expect_line out 'callee_add.*500'
expect_line out 'capped|trace|records'
