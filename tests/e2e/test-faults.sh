#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Nothing left to take: the program is as it is without us, and what was recorded is in the file or
# in a spool whose name is said. Full disks and limits on files: test-full-disk.sh.
. "${0%/*}/lib.sh"

collect=${PRELOAD%/preload/*}/collector/callmark-collect

# same: stdout and status are those of the bare run; stderr has at most lines of ours.
same()
{
	cmp -s bare.out out || fail "another stdout than bare: $(diff bare.out out | head -n 5)"
	expect_status "$bare_status"
	! grep -v '^callmark' err || fail "a line that is not ours"
}

# Descriptors, then memory, run out after the first calls, or before.
for row in descriptors:1000:200000 descriptors:0:1000 memory:1000:200000; do
	IFS=: read -r what before later <<-END
		$row
	END
	bare -- sh -c "ulimit -n 40; exec '$TARGETS/starve' $what $before $later"
	bare_status=$status
	profile 'callee_add max-events=unlimited' -- \
		sh -c "ulimit -n 40; exec '$TARGETS/starve' $what $before $later"
	same
	if [ "$before" -gt 0 ] || [ -e profiling_data.h5 ]; then
		h5 profiling_data.h5 \
			"$before <= calls('callee_add') <= $((before + 2 * later))"
	fi
	rm -f profiling_data.h5
done

# Little address space from the beginning.
for kilobytes in 20000 40000 80000 160000; do
	bare -- sh -c "ulimit -v $kilobytes; exec '$TARGETS/calls-lazy' 1000"
	bare_status=$status
	profile callee_add -- sh -c "ulimit -v $kilobytes; exec '$TARGETS/calls-lazy' 1000"
	same
	[ ! -e profiling_data.h5 ] || h5 profiling_data.h5 'calls("callee_add") == 1000'
	rm -f profiling_data.h5
done

# The spool's folder cannot be made.
bare -- "$TARGETS/calls-lazy" 1000
bare_status=$status
for place in /proc/nowhere /proc "$PWD/bare.out"; do
	run_into out err env -u CALLMARK_SPOOL TMPDIR="$place" LD_PRELOAD="$PRELOAD" \
		CALLMARK_SYMBOLS=callee_add "$TARGETS/calls-lazy" 1000
	same
	[ "$(wc -l <err)" = 1 ] || fail "not one line about $place"
	expect_no_file profiling_data.h5
done

# The collector is missing, or dies: the spool is named, and `recover` makes the file of it.
printf '#!/bin/sh\nkill -KILL $$\n' >dies
chmod +x dies
for collector in /nowhere/callmark-collect "$PWD/dies"; do
	run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
		CALLMARK_COLLECT="$collector" "$TARGETS/calls-lazy" 1000
	same
	expect_line err "callmark recover $PWD/spool/"
	spool=$(sed -n 's/^.*callmark recover //p' err)
	run_into out err "$CALLMARK" recover "$spool"
	expect_status 0
	h5 profiling_data.h5 'calls("callee_add") == 1000'
	expect_clean
	rm profiling_data.h5
done

# Killed again and again while it works: in the end the file is whole.
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS='callee_add max-events=unlimited' \
	"$TARGETS/endings" 3000000 kill
spool=$(find "$PWD/spool" -name process -printf '%h\n')
[ -n "$spool" ] || fail "no spool to collect"
for delay in 0.01 0.05 0.1 0.15 0.2; do
	timeout -s KILL "$delay" "$collect" "$spool" >out 2>err || :
done
run_into out err "$CALLMARK" recover
expect_status 0
h5 profiling_data.h5 'calls("callee_add") == 3000000' 'rows("callee_add") == 3000000'
expect_clean
rm profiling_data.h5

# A file system without locks.
printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$TARGETS/libno-locks.so" "$collect" >unlocked
chmod +x unlocked
run_into out err env LD_PRELOAD="$PRELOAD" CALLMARK_SYMBOLS=callee_add \
	CALLMARK_COLLECT="$PWD/unlocked" "$TARGETS/calls-lazy" 1000
same
if [ ! -e profiling_data.h5 ]; then
	run_into out err "$CALLMARK" recover
	expect_status 0
fi
h5 profiling_data.h5 'calls("callee_add") == 1000'
expect_clean
