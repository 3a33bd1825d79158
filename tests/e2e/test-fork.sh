#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fork, vfork and exec: every process has its own exact counts and its own file; none waits.
. "${0%/*}/lib.sh"

# others N: the files beside the main one, N of them.
others()
{
	expected=$1
	set -- profiling_data.*-*.h5
	[ -e "$1" ] || shift
	[ $# = "$expected" ] || fail "$# further files, expected $expected: $(ls)"
}

compare callee_add -- "$TARGETS/forks" fork 100
h5 profiling_data.h5 'calls("callee_add") == 200' 'rows("callee_add") == 200'
others 1
h5 profiling_data.forks-*.h5 'calls("callee_add") == 200' 'rows("callee_add") == 200'
rm ./*.h5

for how in exec vfork; do
	compare callee_add -- "$TARGETS/forks" $how 100 "$TARGETS/calls-lazy" 33
	h5 profiling_data.h5 'calls("callee_add") == 200'
	others 1
	h5 profiling_data.calls-lazy-*.h5 'calls("callee_add") == 33'
	rm ./*.h5
done

# exec leaves the old image's calls in the spool; `run` collects them.
compare callee_add -- "$TARGETS/forks" replace 100 "$TARGETS/calls-lazy" 33
n_files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
[ "$n_files" = 2 ] || fail "$n_files files, expected 2: $(ls)"
sum=0
for file in ./*.h5; do
	h5 "$file" 'calls("callee_add") in (100, 33)'
done
sum=$(/usr/bin/python3 -c 'import h5py, sys
print(sum(int(h5py.File(f)["rank0/regions/callee_add"].attrs["calls"]) for f in sys.argv[1:]))' ./*.h5)
[ "$sum" = 133 ] || fail "$sum calls in all, expected 133"
rm ./*.h5

# The parent makes no call: the first child that did has the main name.
compare callee_add -- "$TARGETS/forks" many 20
others 19
for file in ./*.h5; do
	h5 "$file" 'calls("callee_add") == 10'
done
rm ./*.h5

# A shell script's children.
compare callee_add -- sh -c "'$TARGETS/calls-lazy' 5; '$TARGETS/calls-now' 6; exit 9"
expect_status 9
others 1
n_files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
[ "$n_files" = 2 ] || fail "$n_files files, expected 2"
rm ./*.h5

# Only the executables that are asked for.
CALLMARK_EXE='calls-n*'
export CALLMARK_EXE
compare callee_add -- sh -c "'$TARGETS/calls-lazy' 5; '$TARGETS/calls-now' 6"
h5 profiling_data.h5 'calls("callee_add") == 6'
others 0
