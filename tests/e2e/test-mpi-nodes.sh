#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two nodes that share the output's folder and nothing else: process ids are the same on both where
# the kernel lets us, each has its own spool. And 300 ranks without any MPI, by links.
. "${0%/*}/lib.sh"

n_on_node=4
if unshare --pid --fork --mount-proc true 2>/dev/null; then
	isolate='unshare --pid --fork --mount-proc'
else
	isolate=
fi

# One node: ranks $1.. with the environment of Slurm, side by side, `callmark run` in each.
cat >node.sh <<'EOF'
first=$1
for local in 0 1 2 3; do
	SLURM_PROCID=$((first + local)) SLURM_LOCALID=$local SLURM_NTASKS=8 SLURM_JOB_ID=77 \
		SLURM_STEP_ID=0 SLURM_NODEID=$((first / 4)) \
		"$CALLMARK" run -s callee_add -- "$TARGETS/calls-lazy" $((first + local + 1)) >/dev/null &
done
wait
EOF
export CALLMARK TARGETS
for node in 0 1; do
	mkdir node$node
	# shellcheck disable=SC2086 # a command with its options, or nothing
	env -u CALLMARK_SPOOL TMPDIR="$work/node$node" $isolate \
		sh node.sh $((node * n_on_node)) 2>err$node &
done
wait
cat err0 err1 >err
[ ! -s err ] || fail "something was said"
h5 profiling_data.h5 'ranks() == list(range(8))' 'metadata("mpi_size") == 8' \
	'[calls("callee_add", r) for r in range(8)] == [r + 1 for r in range(8)]' \
	'list(file.attrs["missing_ranks"]) == []'
[ -z "$isolate" ] || h5 profiling_data.h5 'len(set(rank_attr("pid", r) for r in range(8))) < 8'
expect_clean
rm profiling_data.h5

# 300 ranks, the launcher's environment set by hand; one of them never comes.
rank=0
while [ $rank -lt 301 ]; do
	if [ $rank != 17 ]; then
		env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add CALLMARK_RUN_ID=sim \
			OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=301 \
			"$TARGETS/calls-lazy" 2 >/dev/null 2>>err
	fi
	rank=$((rank + 1))
done
[ ! -s err ] || fail "something was said"
run_into out err timeout 20 "$CALLMARK" inspect --json profiling_data.h5
expect_status 0
/usr/bin/python3 - <<'EOF' || fail "not all ranks are found"
import json
found = json.load(open("out"))
assert [rank["rank"] for rank in found["ranks"]] == [r for r in range(301) if r != 17]
EOF
run_into out err "$CALLMARK" merge -o all.h5 profiling_data.h5
expect_status 0
h5 all.h5 'len(ranks()) == 300' 'list(file.attrs["missing_ranks"]) == [17]' \
	'calls("callee_add", 300) == 2'
# The last one completes it: links, as there are more than 256.
env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add CALLMARK_RUN_ID=sim \
	OMPI_COMM_WORLD_RANK=17 OMPI_COMM_WORLD_SIZE=301 "$TARGETS/calls-lazy" 2 >/dev/null 2>err
[ ! -s err ] || fail "something was said"
h5 profiling_data.h5 'len(ranks()) == 301' 'list(file.attrs["missing_ranks"]) == []' \
	'file.get("rank17", getlink=True).__class__.__name__ == "ExternalLink"' \
	'calls("callee_add", 17) == 2'
