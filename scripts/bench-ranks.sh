#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How the cost of a parallel run grows with its ranks: joining their files, and opening the result.
# Prints a table; exit status 1 when 4,096 ranks take more than was asked: 5 s of joining, 256 MiB,
# 2 s to open with h5py and 2 s with `callmark inspect`.
#
#   scripts/bench-ranks.sh [BUILD]      RANKS="16 64 256 1024 4096"
#
# Seconds are of the processor. No MPI: bench-join makes the ranks' files, of three calls each.
# Takes about a minute.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

join=$build/tests/unit/bench-join
callmark=$build/cli/callmark
[ -x "$join" ] && [ -x "$callmark" ] || {
	echo "bench-ranks: build first: ninja -C $build" >&2
	exit 1
}

echo "machine:     $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
exec /usr/bin/python3 "$top/scripts/bench_ranks.py" "$join" "$callmark" "$work" \
	${RANKS:-16 64 256 1024 4096}
