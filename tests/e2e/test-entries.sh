#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# internal=yes: local functions, intercepted at their entry. Exact counts in every way to call them,
# nothing changed but the time; what cannot be had is refused with a reason.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/lib.sh"
export CALLMARK_CACHE="$work/cache"
all='entries:* internal=yes'

### every way to call
compare "$all" -- "$TARGETS/entries" recursion
h5 profiling_data.h5 'calls("fibonacci") == 1973' 'calls("main") == 1'
compare "$all" -- "$TARGETS/entries" tails
h5 profiling_data.h5 'calls("is_even") + calls("is_odd") == 101 + 78'
compare "$all" -- "$TARGETS/entries" pointers
h5 profiling_data.h5 'calls("pointers") == 1' 'calls("by_pointer") > 5'
compare "$all" -- "$TARGETS/entries" leaps
h5 profiling_data.h5 'calls("leap") == 20' 'attr("leap", "skipped") == 20' 'calls("leaps") == 1'
compare "$all" -- "$TARGETS/entries" threads
h5 profiling_data.h5 'calls("worker_step") == 40000' 'calls("worker") == 4'
compare "$all" -- "$TARGETS/entries" forks
h5 profiling_data.h5 'calls("fibonacci") == 15 + 9'
h5 profiling_data.entries-*.h5 'calls("fibonacci") == 25'
rm profiling_data.entries-*.h5

### a cache that is there is used: nobody makes it again
n=$(find cache -name '*.sites' | wc -l)
[ "$n" -ge 1 ] || fail "no site file in the cache"
find cache -name '*.sites' -exec stat -c '%i %y' {} + >before
compare "$all" -- "$TARGETS/entries" recursion
find cache -name '*.sites' -exec stat -c '%i %y' {} + >after
cmp -s before after || fail "site files were made again"

### a bare preload asks for it itself, here by rules that are new
rules='entries:fibonacci internal=yes region=bare'
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS="$rules" "$TARGETS/entries" recursion
expect_status 0
[ ! -s err ] || fail "the bare preload is not silent"
h5 profiling_data.h5 'calls("bare") == 1973' 'attr("bare", "open") == 0'

### every register, with and without markers
compare 'entry-registers:keeps_all internal=yes' -- "$TARGETS/entry-registers"
h5 profiling_data.h5 'calls("keeps_all") == 1000'

### no room: refused; with force=trap not
if sites profiling_data.h5 refused entry | grep -q .; then
	fail "a refused site that nobody asked for"
fi
profile 'entries:tiny internal=yes' 'entries:main internal=yes' -- "$TARGETS/entries" traps
expect_status 0
expect_line err '^callmark: 1 of 2 rules matched only what cannot be intercepted .*: entries:tiny$'
h5 profiling_data.h5 'calls("main") == 1'
sites profiling_data.h5 refused entry >refused
expect_line refused '^tiny short: '
# The program's own SIGTRAP handler, traps and masks are as they were.
compare 'entries:tiny internal=yes force=trap' -- "$TARGETS/entries" traps
h5 profiling_data.h5 'calls("tiny") == 30'
[ "$(sites profiling_data.h5 patched trap)" = tiny ] || fail "tiny was not intercepted by a trap"

### opened, closed and opened again; a slot and an entry of one function count once
module="$TARGETS/libentry-module.so"
[ -f "$module" ] || module=$TARGETS/entry-module.so
compare 'module_* internal=yes' 'worker_step internal=yes' -- "$TARGETS/entries" opens "$module"
h5 profiling_data.h5 'calls("module_outer") == 3' 'calls("module_inner") == 10 + 11 + 12' \
	'calls("module_shared") == 33' 'calls("worker_step") == 10000'
compare 'module_* internal=yes' -- "$TARGETS/entries" opens "$module" thread
h5 profiling_data.h5 'calls("module_inner") == 33' 'calls("module_shared") == 33'
# Its own thread runs there by then: left alone, unless the jump replaces one instruction.
threaded=$(echo "$module" | sed 's/entry-module/entry-module-thread/')
profile 'module_* internal=yes' -- "$TARGETS/entries" opens "$threaded"
expect_status 0
sites profiling_data.h5 refused entry >refused
expect_line refused '^module_outer threads: '
# A worker of the module's that has fallen asleep is nowhere near.
worker=$(echo "$module" | sed 's/entry-module/entry-module-worker/')
profile 'module_* internal=yes' -- "$TARGETS/entries" opens "$worker"
expect_status 0
h5 profiling_data.h5 'calls("module_outer") == 3' 'calls("module_inner") == 33'
sites profiling_data.h5 refused entry >refused
grep -q . refused && fail "refused: $(cat refused)"

### code that is not as in the file: left alone
cp "$TARGETS/entries" changed
rm -rf cache
compare 'changed:fibonacci internal=yes' printf -- ./changed recursion
h5 profiling_data.h5 'calls("fibonacci") == 1973'
/usr/bin/python3 - cache/*.sites <<'END' || fail "cannot change the site file"
import struct, sys

for name in sys.argv[1:]:
    data = bytearray(open(name, "rb").read())
    for i in range(struct.unpack_from("<I", data, 12)[0]):
        data[128 + 296 * i + 64] ^= 1  # expected[0]
    open(name, "r+b").write(data)
END
profile 'changed:fibonacci internal=yes' printf -- ./changed recursion
expect_status 0
expect_line out '^610$'
expect_line err 'matched only what cannot be intercepted .*: changed:fibonacci$'
sites profiling_data.h5 refused entry >refused
expect_line refused '^fibonacci differs: '
h5 profiling_data.h5 'calls("fibonacci") == 0'
