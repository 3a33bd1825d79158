#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callers=N: the paths by which a region is entered, as the process leaves them in its spool.
. "${0%/*}/lib.sh"
: "${PRELOAD:?}"

# record RULES PROGRAM ARGS: the spool stays.
record()
{
	rules=$1
	shift
	rm -rf spool
	mkdir spool
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_COLLECT=/bin/true \
		CALLMARK_SYMBOLS="$rules" "$@"
	[ ! -s err ] || fail "$*: it said something"
}

paths()
{
	/usr/bin/python3 "$E2E/spool_paths.py" spool "$@" >paths.out ||
		fail "the paths are others: $(head -n 20 paths.out)"
}

for variant in plain unoptimized frame-pointer size; do
	program=$TARGETS/paths-$variant
	for trace in '' ' trace=off'; do
		record "callee_add callers=20$trace" "$program" sites 50
		expect_status 0
		paths 'heads("callee_add") == {"site_one": 50, "site_two": 50, "site_three": 50}' \
			'all("main" in path and path.endswith(" < _start") for path in paths("callee_add"))' \
			'functions("callee_add") == ["callee_add"]' '"libcallee.so" in objects' \
			'"paths-'$variant'" in objects' 'ticks("callee_add") > 0'
	done

	record 'callee_add callers=20' "$program" recurse 5
	paths 'heads("callee_add") == {"site_one" + " < deep" * 5: 1, "site_one" + " < deep" * 6: 1}'

	# The frames in between are libc's.
	for how in signal alternate; do
		record 'callee_add callers=20' "$program" $how 30
		paths 'heads("callee_add") == {"site_two < on_signal": 30}' \
			'all(" < raise < send_signal < " in path and path.endswith(" < _start") for path in paths("callee_add"))'
	done

	# The fiber's first function is called by nobody: no path is cut.
	record 'callee_add callers=20' "$program" fibers 30
	paths 'heads("callee_add") == {"site_one < deep < deep < deep < run_fiber": 30}' \
		'not any("cut" in path for path in paths("callee_add"))'

	record 'callee_add callers=20' "$program" cut 30
	paths 'paths("callee_add") == {"site_one < without_tables < (cut)": 30}'

	record 'callee_add callers=20' "$program" frames 300
	paths 'heads("callee_add") == {"site_three < realigned < growing < large": 300}' \
		'all(path.endswith(" < _start") for path in paths("callee_add"))'
done
program=$TARGETS/paths-plain

# No more than asked for; which says nothing where there are no more.
record 'callee_add callers=2' "$program" recurse 5
paths 'paths("callee_add") == {"site_one < deep < (limit)": 2}'
record 'callee_add callers=1;callee_* callers=3' "$program" sites 5
paths 'paths("callee_add") == {"site_one < (limit)": 5, "site_two < (limit)": 5, "site_three < (limit)": 5}'
record 'callee_add' "$program" sites 5
paths 'paths("callee_add") == {}' 'functions("callee_add") == ["callee_add"]' \
	'objects == ["libcallee.so"]'
[ -z "$(find spool -name 't*.pth')" ] || fail "totals of paths without callers="

# 4,096 paths a region, and the rest together.
record 'callee_add callers=40' "$program" many 5000
paths 'n_paths("callee_add") == 4097' 'calls("callee_add") == 5000' \
	'paths("callee_add")["(other)"] == 904'

record 'callee_add callers=20' "$program" threads 3000
paths 'heads("callee_add") == {"site_one < thread_even": 6000, "site_two < thread_odd": 6000}' \
	'not any("cut" in path for path in paths("callee_add"))'
n=$(find spool -name 't*.pth' | wc -l)
[ "$n" -ge 1 ] || fail "$n files of totals"

# A forked child has its own.
record 'callee_add callers=20' "$program" fork 30
paths 'n_processes == 2' 'heads("callee_add") == {"site_one": 60, "site_two": 30}' \
	'n_paths("callee_add") == 3'

# In constructors, while two threads are in dlopen: the objects are not listed yet.
for name in plugin other; do
	cp "$TARGETS/libpaths-$name.so" .
done
record 'callee_step callers=30' timeout 60 "$program" open 200 "$PWD/libpaths-plugin.so" \
	"$PWD/libpaths-other.so"
expect_status 0
paths 'calls("callee_step") > 0' \
	'set(heads("callee_step")) == {"callee_factorial < begin < start"}' \
	'all(" < open_one < " in path and "(cut)" not in path for path in paths("callee_step"))' \
	'objects.count("libpaths-plugin.so") <= 200'

# A killed process has left all but the call that was under way.
rm -rf spool fifo
mkdir spool
mkfifo fifo
env LD_PRELOAD="$PRELOAD" CALLMARK_COLLECT=/bin/true CALLMARK_SYMBOLS='callee_add callers=20' \
	"$program" wait 1000 >fifo &
read -r line <fifo
[ "$line" = ready ] || fail "it said: $line"
kill -KILL $!
wait $! || :
paths 'heads("callee_add") == {"site_one": 1000}'

# Ways out of a call: each is counted by its path.
record 'callee_* callers=8' "$TARGETS/signals" 300 leap
paths 'calls("callee_call") == 300' 'calls("callee_add") == 300' 'calls("callee_factorial") == 900'
for trace in '' ' trace=off'; do
	record "callee_* callers=8$trace" "$TARGETS/fibers" interleave 300
	paths 'calls("callee_call") == 2400'
	record "callee_* callers=8$trace" "$TARGETS/fibers" move 100
	paths 'calls("callee_call") == 100' 'calls("callee_add") == 300'
	record "callee_* callers=8$trace" "$TARGETS/fibers" unmap 300
	paths 'calls("callee_call") == 0' 'calls("callee_add") == 600'
done
record 'callee_* callers=8' "$TARGETS/fibers" entry 200
paths 'calls("callee_ten") == 200' 'not any("cut" in path for path in paths("callee_ten"))'
