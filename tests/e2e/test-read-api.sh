#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libcallmark.so as a stranger uses it: installed, found by pkg-config, and the example of its
# header compiled as it stands there. Its output is compared with what h5py reads.
. "${0%/*}/lib.sh"

cc=$(command -v cc || command -v gcc) || skip "no C compiler"
command -v pkg-config >/dev/null || skip "no pkg-config"
build=${CALLMARK%/cli/callmark}
meson install -C "$build" --no-rebuild --quiet --destdir "$work/root" >install.log 2>&1 ||
	fail "meson install: $(tail -n 5 install.log)"
header=$(find root -path '*/include/callmark/results.h')
library=$(find root -name libcallmark.so.0)
[ -n "$header" ] || fail "the header is not installed"
[ -n "$library" ] || fail "the library is not installed"

### The package is found, and only its header is needed
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name callmark.pc)")
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR="$work/root"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs callmark) || fail "pkg-config does not find callmark"
version=$("$CALLMARK" --version | sed 's/^callmark \([0-9.]*\).*/\1/')
[ "$(pkg-config --modversion callmark)" = "$version" ] || fail "the package is of another version"

# From " * EXAMPLE" to the next heading, without the comment's margin.
awk '/^ \* [A-Z]/ {here = /^ \* EXAMPLE$/; next}
	here {sub(/^ \*\t?/, ""); print}' "$header" >example.c
grep -q 'int main' example.c || fail "no example in $header"
# shellcheck disable=SC2086 # flags
$cc -std=c11 -pedantic -Wall -Wextra -Werror -o example example.c $flags || fail "the example"
if command -v c++ >/dev/null; then
	printf '#include <callmark/results.h>\nint main() { callmark_results_close(nullptr); }\n' >cc.cc
	# shellcheck disable=SC2086 # flags
	c++ -std=c++11 -pedantic -Wall -Wextra -Werror -o cc cc.cc $flags || fail "from C++"
fi
LD_LIBRARY_PATH=$(dirname "$work/$library")
export LD_LIBRARY_PATH

### Everything that is declared is exported, and nothing else
sed -n '/^#ifndef/,$s/.*\(callmark_results_[a-z_]*\)(.*/\1/p' "$header" | sed '/^callmark_results_$/d' |
	grep -v '^ \*' >names
sed -n '/^#ifndef/,$s/^[a-z].*[ *]\(cm_[a-z_]*\)(.*/\1/p' "${header%/*}/measure.h" | sort -u - names >declared
nm -D --defined-only "$library" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >exported
cmp -s declared exported || fail "header and library differ: $(diff declared exported)"

### A profile of a real program, with counters as layout.md has them
profile callee_add -- "$TARGETS/calls-lazy" 100
[ -s profiling_data.h5 ] || fail "no profile to read"
run_into out err ./example
expect_status 0
/usr/bin/python3 - out <<'END' || fail "the example does not say what h5py reads"
import sys

import h5py

with h5py.File("profiling_data.h5") as f, open(sys.argv[1], encoding="utf-8") as out:
    want = [f"rank 0 {region.attrs['tag']}: {region.attrs['calls']} calls, "
            f"{region.attrs['total_ns']} ns" for region in f["rank0/regions"].values()]
    got = out.read().splitlines()
assert got == want and got, (got, want)
END
/usr/bin/python3 - <<'END'
import h5py
import numpy as np

text = h5py.string_dtype()
with h5py.File("profiling_data.h5", "a") as f:
    likwid = f["rank0"].create_group("likwid")
    likwid.attrs["LIKWID_EVENTS"] = "MEM"
    likwid.attrs["num_regions"] = 1
    likwid.attrs["cpu_name"] = "made up"
    group = likwid.create_group("regions/a|b")
    for name, value in (("tag", "a/b"), ("group_name", "MEM"), ("source", "full_api")):
        group.attrs[name] = value
    group.attrs["group_id"] = 0
    group.attrs["event_names"] = np.array(["INSTR", "CAS", "CAS"], dtype=text)
    group.attrs["counter_names"] = np.array(["FIXC0", "MBOX0C0", "MBOX1C0"], dtype=text)
    group.attrs["metric_names"] = np.array([], dtype=text)
    group["cpus"] = np.array([4, 1])
    group["times"] = np.array([0.5, 0.25])
    group["call_counts"] = np.array([1, 2])
    group["events"] = np.array([[1.5, 2], [3, np.nan], [1e300, 6]])
    group["metrics"] = np.zeros((0, 2))
END
h5 profiling_data.h5
/usr/bin/python3 "$E2E/check_layout.py" profiling_data.h5 >layout.log || fail "$(cat layout.log)"
run_into out err ./example
expect_status 0
grep '^a/b' out >counters || fail "no counters"
cat >expected <<'END'
a/b MEM cpu 4 INSTR = 1.5
a/b MEM cpu 1 INSTR = 2
a/b MEM cpu 4 CAS:MBOX0C0 = 3
a/b MEM cpu 1 CAS:MBOX0C0 = nan
a/b MEM cpu 4 CAS:MBOX1C0 = 1.0000000000000001e+300
a/b MEM cpu 1 CAS:MBOX1C0 = 6
END
cmp -s counters expected || fail "other counters: $(diff counters expected)"

### Bad input: one line and a status
for file in missing.h5 example.c .; do
	run_into out err ./example "$file"
	expect_status 1
	[ "$(wc -l <err)" = 1 ] || fail "$(wc -l <err) lines for $file"
	expect_line err "$file"
done
head -c 3000 profiling_data.h5 >cut.h5
run_into out err ./example cut.h5
expect_status 1
expect_line err 'cut.h5'
