#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The call paths of 50 places in a generated program are those that gdb's bt shows at the same
# calls: C++ and C, with and without optimisation, frame pointers, and debug information.
. "${0%/*}/lib.sh"

parts=$E2E/../internal
/usr/bin/python3 "$parts/generate_paths.py" paths.cc 50 7

# one COMPILER FLAGS..: the calls of site_target, by its entry.
one()
{
	"$@" -w -o paths paths.cc >build.log 2>&1 || fail "$*: $(head -n 3 build.log)"
	gdb -nx -batch -x "$parts/gdb_paths.py" paths >gdb.out 2>gdb.err </dev/null || :
	grep -q ^PATH gdb.out || skip "gdb cannot trace here: $(tail -n 1 gdb.err)"
	compare 'site_target internal=yes callers=40' -- ./paths
	/usr/bin/python3 "$parts/check_paths.py" profiling_data.h5 gdb.out paths || fail "$*: call paths"
	rm -f profiling_data.h5
}

one g++ -O0
one g++ -O0 -g -fno-omit-frame-pointer
one g++ -O2
one g++ -O2 -fno-omit-frame-pointer -fno-pie -no-pie
one g++ -O1 -g
if command -v clang++ >/dev/null; then
	one clang++ -O2
	one clang++ -O0 -fno-omit-frame-pointer
fi
