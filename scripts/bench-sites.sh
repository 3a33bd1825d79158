#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What callmark-sites needs for a large object: a library of 100,000 functions and 50 MB of code is
# analysed (every function patched), and found in the cache. Medians; peak memory. Prints a table
# with the limits; exit status 1 when one is missed.
#
#   scripts/bench-sites.sh [BUILD]      ROUNDS=5 FUNCTIONS=100000
#
# Run it on a quiet machine: it takes about a minute.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$top/build}
functions=${FUNCTIONS:-100000}
sites=$build/collector/callmark-sites
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$sites" ] || {
	echo "bench-sites: build first: ninja -C $build" >&2
	exit 1
}

# About 500 bytes each: a frame, branches, data relative to rip, calls of the next one.
/usr/bin/python3 - "$functions" >"$work/large.s" <<'END'
import sys

n = int(sys.argv[1])
block = """\tmovl counter(%rip), %eax
\taddl $1, %eax
\tmovl %eax, counter(%rip)
\tcmpl $1000, %eax
\tjg 9f
\tmovq %rdi, %rsi
\timulq $12345, %rsi, %rsi
\tleaq 16(%rsi,%rdi,4), %rdi
\ttestq %rdi, %rdi
\tjs 9f
"""
print("\t.text")
for i in range(n):
    print(f"\t.globl f{i}\n\t.type f{i}, @function\n\t.balign 16\nf{i}:\n\t.cfi_startproc\n"
          f"\tpushq %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbx, -16\n"
          f"\tmovq %rdi, %rbx\n" + block * 9 + f"\tcall f{(i + 1) % n}\n"
          f"9:\tpopq %rbx\n\t.cfi_def_cfa_offset 8\n\tret\n\t.cfi_endproc\n\t.size f{i}, . - f{i}")
print("\t.local counter\n\t.comm counter, 4, 4\n\t.section .note.GNU-stack, \"\", @progbits")
END
gcc -shared -Wl,-Bsymbolic -o "$work/large.so" "$work/large.s"

# sample NAME OPTION..: seconds and MiB of one run.
sample()
{
	name=$1
	shift
	/usr/bin/python3 - "$name" "$sites" --symbols '* internal=yes' "$@" "$work/large.so" \
		>>"$work/samples" <<'END'
import os, subprocess, sys, time

start = time.monotonic()
_, status, usage = os.wait4(subprocess.Popen(sys.argv[2:]).pid, 0)
if status:
    sys.exit("bench-sites: callmark-sites failed")
print(f"{sys.argv[1]}_ms {1000 * (time.monotonic() - start):.2f}")
print(f"{sys.argv[1]}_mib {usage.ru_maxrss / 1024:.2f}")
END
}

round=0
while [ $round -lt "${ROUNDS:-5}" ]; do
	round=$((round + 1))
	sample made --force --cache "$work/cache"
	sample kept --cache "$work/cache"
done
echo 'limit_ms 3000
limit_mib 300
limit_kept_ms 20' >>"$work/samples"
echo "library:     $(($(stat -c %s "$work/large.so") / 1000000)) MB, $functions functions"
echo "load before: $(cut -d ' ' -f 1-3 /proc/loadavg)"
/usr/bin/python3 "$top/scripts/bench_table.py" \
	'analysed [ms]|made_ms|limit_ms|1.00' \
	'its peak memory [MiB]|made_mib|limit_mib|1.00' \
	'found in the cache [ms]|kept_ms|limit_kept_ms|1.00' <"$work/samples"
