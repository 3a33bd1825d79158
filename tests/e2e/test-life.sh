#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that come from others in every way: each that recorded something has its own file.
. "${0%/*}/lib.sh"

# others N: the files beside the main one, N of them.
others()
{
	expected=$1
	set -- profiling_data.*-*.h5
	[ -e "$1" ] || shift
	[ $# = "$expected" ] || fail "$# further files, expected $expected: $(ls)"
}

# sum_of FILE..: the calls of callee_add in all of them.
sum_of()
{
	/usr/bin/python3 -c 'import h5py, sys
print(sum(int(h5py.File(f)["rank0/regions/callee_add"].attrs["calls"]) for f in sys.argv[1:]))' "$@"
}

compare callee_add -- "$TARGETS/life" spawn 100 "$TARGETS/calls-lazy" 33
h5 profiling_data.h5 'calls("callee_add") == 200'
others 1
h5 profiling_data.calls-lazy-*.h5 'calls("callee_add") == 33'
rm ./*.h5

# A pipe of system(): sh and its helpers have no file.
compare callee_add -- "$TARGETS/life" system 100 "'$TARGETS/calls-lazy' 33 | cat"
h5 profiling_data.h5 'calls("callee_add") == 200'
others 1
rm ./*.h5
compare callee_add -- "$TARGETS/life" system 100 "'$TARGETS/calls-lazy' 33 | '$TARGETS/calls-now' 44"
others 2
rm ./*.h5

# A chain of programs in one process; `run` names the last one's status.
compare callee_add -- "$TARGETS/life" chain 100 5
expect_status 6
others 5
for file in ./*.h5; do
	h5 "$file" 'calls("callee_add") == 100'
done
rm ./*.h5

# LD_PRELOAD taken out, put behind another library, or gone with the whole environment.
for how in unset clear; do
	compare callee_add -- "$TARGETS/life" $how 100 "$TARGETS/calls-lazy" 33
	h5 profiling_data.h5 'calls("callee_add") == 200'
	others 0
	rm ./*.h5
done
compare callee_add -- "$TARGETS/life" rewrite 100 "$TARGETS/calls-lazy" 33
h5 profiling_data.h5 'calls("callee_add") == 200'
others 1
rm ./*.h5

# daemon(3): the parent leaves by _exit, `run` does not wait for the daemon, which ends as it likes.
bare -- "$TARGETS/life" daemon 100 bare.counted
profile callee_add -- "$TARGETS/life" daemon 100 counted
expect_status 0
cmp bare.out out || fail "another stdout than bare"
cmp bare.err err || fail "another stderr than bare"
for i in $(seq 100); do
	n_files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
	[ "$n_files" -lt 2 ] || break
	sleep 0.1
done
others 1
h5 profiling_data.h5 'calls("callee_add") == 100'
h5 profiling_data.life-*.h5 'calls("callee_add") in (100, 200)'
cmp bare.counted counted || fail "the daemon counted otherwise"
for i in $(seq 20); do
	[ -n "$(find spool -mindepth 2)" ] || break
	sleep 0.1
done
expect_clean
rm ./*.h5 counted

# expect_clean_soon: what outlived `run` removes its spool itself, all of it.
expect_clean_soon()
{
	for i in $(seq 100); do
		[ -n "$(find spool -mindepth 2)" ] || break
		sleep 0.1
	done
	expect_clean
}

# A daemon that is already another program when `run` ends, and a third one later: it takes over
# what each of them left, and the run's folder.
# shellcheck disable=SC2016 # the inner shells' own
{
	second='read -r line <go; exec "$0" 33'
	first='exec sh -c "$1" "$0"'
}
mkfifo go
profile '*' -- setsid -f sh -c "$first" "$TARGETS/calls-lazy" "$second"
expect_status 0
for i in $(seq 100); do
	[ -z "$(find spool -mindepth 3 -name process)" ] || break
	sleep 0.1
done
[ -n "$(find spool -mindepth 3 -name process)" ] || fail "the daemon has no spool"
echo >go
rm go
expect_clean_soon
h5 profiling_data.calls-lazy-*.h5 'calls("callee_add") == 33'
others 4 # setsid, its child, sh twice, calls-lazy: one of them has the main name
rm ./*.h5

# The same when `run` was killed.
"$CALLMARK" run -s callee_add -- \
	sh -c 'echo $$ >pid; until [ -e go ] || [ ! -e pid ]; do sleep 0.05; done; exec "$0" 33' \
	"$TARGETS/calls-lazy" >out 2>err &
while [ ! -s pid ]; do
	sleep 0.05
done
kill -KILL $!
wait $! || :
touch go
expect_clean_soon
h5 profiling_data.h5 'calls("callee_add") == 33'
rm ./*.h5 pid

# Python's own processes: forked ones and spawned ones.
cat >work.py <<'END'
import multiprocessing, sys, zlib

def work(n):
    return sum(zlib.crc32(b"%d" % i) & 1 for i in range(n))

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(3) as pool:
        print(pool.map(work, [100] * 12, 1))
    one = multiprocessing.Process(target=work, args=(50,))
    one.start()
    one.join()
    print(one.exitcode, work(10))
END
for how in fork spawn forkserver; do
	compare crc32 -- /usr/bin/python3 work.py $how
	h5 profiling_data.h5 'calls("crc32") == 10'
	sum=$(/usr/bin/python3 -c 'import h5py, sys
print(sum(int(h5py.File(f)["rank0/regions/crc32"].attrs["calls"]) for f in sys.argv[1:]))' ./*.h5)
	[ "$sum" = 1260 ] || fail "$how: $sum calls in all files, expected 1260"
	rm ./*.h5
done

# The file has the command line as it was, empty arguments and all.
compare callee_add -- "$TARGETS/calls-lazy" 10 '' 'a b' '' ''
h5 profiling_data.h5 \
	'[as_text(arg) for arg in file["rank0/command_line"][1:]] == ["10", "", "a b", "", ""]'
