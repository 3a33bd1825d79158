#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Functions that jump to each other take no stack, however long the chain, and each call counts:
# with a full trace, without, with call paths, and with markers around every call (the real LIKWID
# on SIMULATED counters), where all registers are kept.
# shellcheck source-path=SCRIPTDIR
. "$E2E/lib.sh"
# shellcheck source-path=SCRIPTDIR
. "$E2E/sim.sh"
export CALLMARK_CACHE="$work/cache"

"$E2E/../internal/build.sh" long c 1 0 exe gcc -O2 >build.log 2>&1 || fail "$(head -n 5 build.log)"
for keys in trace=off max-events=unlimited callers=8; do
	compare "prog:asm_p[io]ng_1 internal=yes $keys" -- long/prog
	h5 profiling_data.h5 'calls("asm_ping_1") == 300000' 'calls("asm_pong_1") == 300000' \
		'attr("asm_ping_1", "open") == 0' 'attr("asm_pong_1", "skipped") == 0'
	rm profiling_data.h5
done

"$E2E/../internal/build.sh" short c 1 0 exe gcc -O2 -DTAILS=600ul >build.log 2>&1 ||
	fail "$(head -n 5 build.log)"
sim_setup zen3
allowed=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)
run_options="-g FLOPS_DP -C ${allowed%%[,-]*}"
compare 'prog:asm_p[io]ng_1 internal=yes' 'prog:asm_quiet_1 internal=yes' -- short/prog
h5 profiling_data.h5 'calls("asm_ping_1") == 900' 'calls("asm_pong_1") == 900'
/usr/bin/python3 - profiling_data.h5 <<'END' || fail "other counts"
import sys
import h5py

regions = h5py.File(sys.argv[1])["rank0/likwid/regions"]
for name in ("asm_ping_1", "asm_pong_1"):  # the first of each chain is open until its end
    assert list(regions[name]["call_counts"]) == [3], list(regions[name]["call_counts"])
END
