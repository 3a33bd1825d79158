#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# internal=yes with markers: the real LIKWID on SIMULATED counters is called at a function's entry,
# where every register belongs to somebody.
# shellcheck source-path=SCRIPTDIR
. "$E2E/lib.sh"
# shellcheck source-path=SCRIPTDIR
. "$E2E/sim.sh"
sim_setup zen3
export CALLMARK_CACHE="$work/cache"
allowed=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)
cpu=${allowed%%[,-]*}

run_options="-g FLOPS_DP -C $cpu"
compare 'entry-registers:keeps_all internal=yes' -- "$TARGETS/entry-registers"
expect_line out '^0 registers changed$'
h5 profiling_data.h5 'calls("keeps_all") == 1000'
/usr/bin/python3 - profiling_data.h5 "$((1000 * $(sim_step 0xc0 0 "$cpu")))" <<'END' || fail "other counts"
import sys
import h5py

region = h5py.File(sys.argv[1])["rank0/likwid/regions/keeps_all"]
names = [name.decode() if isinstance(name, bytes) else name for name in region.attrs["event_names"]]
assert list(region["call_counts"]) == [1000], list(region["call_counts"])
value = region["events"][names.index("RETIRED_INSTRUCTIONS"), 0]
assert value == int(sys.argv[2]), (value, sys.argv[2])
END

# Recursion, and calls that longjmp leaves.
sim_reset
compare 'entries:fibonacci internal=yes' -- "$TARGETS/entries" recursion
h5 profiling_data.h5 'calls("fibonacci") == 1973'
compare 'entries:leap internal=yes' -- "$TARGETS/entries" leaps
# Those that the last leap left behind were never looked at again.
h5 profiling_data.h5 'calls("leap") == 20' 'attr("leap", "skipped") == 16' 'attr("leap", "open") == 4'
