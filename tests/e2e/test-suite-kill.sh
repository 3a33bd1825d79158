#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark suite with 200 rows of every kind, killed at any time: what was finished verifies, the
# rest is absent, nothing is half. And a disk that gets full.
# shellcheck source-path=SCRIPTDIR
. "$E2E/lib.sh"
# shellcheck source-path=SCRIPTDIR
. "$E2E/sim.sh"

file()
{
	/usr/bin/python3 "$E2E/suite_file.py" "$@" || fail "suite_file.py $1"
}

# suite EXPECTED_STATUS ARGUMENT..
suite()
{
	wanted=$1
	shift
	run_into out err timeout 100 "$CALLMARK" suite "$@"
	expect_status "$wanted"
}

for name in row fails-in-setup fails-in-workload fails-in-cleanup crashes-in-setup exits-in-setup \
	talks-in-setup hangs-in-setup; do
	cp "$TARGETS/suite-row.so" $name.so
done
cp "$TARGETS/worker-empty.so" empty.so
cp "$TARGETS/suite-row.so" target.so

### 200 rows, every outcome among them; the few that count are SIMULATED
sim_setup zen3
file make many.json 20 planned counted 40 blocked warned 20 setup wrong 20 planned 40 absent \
	no-oracle 16 exit hang 38 tampered target
suite 0 run many.json -o many
expect_line out '^suite <&>: execution_failed; 3 pass 78 unavailable 2 invalid 40 blocked 77 error; '
suite 0 verify many
expect_line out '^many: 402 files of 200 rows are as they were written; execution_failed$'
suite 0 report many --format=json -o report.json
file rows many "len(report['rows']) == 200" "[r['row'] for r in report['rows']] == list(range(1, 201))" \
	"report['counts'] == {'pass': 3, 'unavailable': 78, 'invalid': 2, 'blocked': 40, 'error': 77}" \
	"len([k for k in f['rows']]) == 200"

# What is there after a kill: rows 1 to N, whole, and no more. Leaves N in $n_rows.
check_killed()
{
	suite 3 verify "$1"
	[ ! -s err ] || fail "findings"
	expect_line out "^$1: the run did not come to its end; [0-9]+ of 200 rows are there, as they"
	n_rows=$(sed -n 's/.* end; \([0-9]*\) of .*/\1/p' out)
	[ "$(find "$1/rows" -mindepth 1 -maxdepth 1 -name '[0-9]*' | wc -l)" = "$n_rows" ] ||
		fail "another number of rows"
	for row in "$1"/rows/[0-9]*; do
		[ "$n_rows" = 0 ] || { [ -s "$row/row.h5" ] && [ -s "$row/integrity.json" ]; } ||
			fail "$row is half"
	done
	suite 0 report "$1" --format=json -o report.json
	file rows "$1" "not report['complete'] and len(report['rows']) == 200" \
		"[r['verdict'] is not None for r in report['rows']] == [i < $n_rows for i in range(200)]" \
		"all(row(i + 1).attrs['row'] == i + 1 for i in range($n_rows))"
}

### Killed at a row, and at any time: without waiting for anything
for at in 0000 0001 0023 0061; do
	"$CALLMARK" suite run many.json -o "killed-$at" >/dev/null 2>&1 &
	pid=$!
	until [ -e "killed-$at/rows/$at" ] || { [ $at = 0000 ] && [ -e "killed-$at" ]; }; do
		kill -0 $pid || fail "the run ended"
	done
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	check_killed "killed-$at"
	[ "$n_rows" -ge "$(printf '%d' "$(echo $at | sed 's/^0*\(.\)/\1/')")" ] || fail "too few rows"
done
for delay in 0.02 0.1 0.17 0.23 0.31; do
	"$CALLMARK" suite run many.json -o "after-$delay" >/dev/null 2>&1 &
	pid=$!
	sleep $delay
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	[ ! -e "after-$delay" ] || check_killed "after-$delay"
done
rm -rf .after-*.tmp .killed-*.tmp

### What a killed run has left is held against itself, too
printf x >>killed-0061/rows/0005/row.h5
suite 1 verify killed-0061
expect_line err '^callmark: killed-0061/rows/0005/row.h5: has another size$'
rm -r killed-0023/rows/0004
suite 1 verify killed-0023
expect_line err '^callmark: killed-0023/rows/0004: missing$'

### A signal that can be caught: the row at hand is given up, its worker with it
file make hang.json planned hang hang
sed -i 's/"timeout": 1/"timeout": 60/' hang.json
"$CALLMARK" suite run hang.json -o ended >out 2>err &
pid=$!
until [ -e ended/rows/0001 ]; do
	kill -0 $pid || fail "the run ended"
done
sleep 0.3
kill -TERM $pid
status=0
wait $pid || status=$?
expect_status 143
expect_line err '^callmark: ended: ended by signal 15; the rows that were done are kept$'
suite 3 verify ended
expect_line out ' 1 of 3 rows are there'
! grep -lsz "$work/hangs-in-setup.so" /proc/[0-9]*/maps >/dev/null || fail "a worker is left"

### A full disk ends the run, in one line; what was kept before it verifies
mount_small small 600k
file make planned.json 100 planned
suite 3 run planned.json -o small/out
expect_line err '^callmark: row [0-9]+ \(planned-[0-9]+/worker\) is not kept, and the run ends: .*No space left'
[ "$(wc -l <err)" = 1 ] || fail "more than one line"
suite 3 verify small/out
n_rows=$(sed -n 's/.* end; \([0-9]*\) of .*/\1/p' out)
[ "$n_rows" -gt 3 ] && [ "$n_rows" -lt 100 ] || fail "$n_rows rows"
[ -z "$(find small -name '.*')" ] || fail "left: $(find small -name '.*')"
rm -rf small/out
### ... and one that a worker fills
cp "$TARGETS/suite-row.so" small/fills-in-setup.so
file make fill.json planned fill planned
sed -i 's,"fills-in-setup.so","small/fills-in-setup.so",' fill.json
suite 3 run fill.json -o small/out
expect_line err '^callmark: row 2 \(fill-2/worker\) is not kept, and the run ends: .*No space left'
suite 3 verify small/out
expect_line out ' 1 of 3 rows are there'
# Evidence on another disk has room: the row is kept, and so is the next one.
rm -rf small/out small/filler
suite 0 run fill.json -o filled
suite 0 verify filled
rm -f small/filler
suite 3 run planned.json -o "small/$(printf '%0250d' 0)"
dd if=/dev/zero of=small/filler bs=4k 2>/dev/null || :
suite 3 run planned.json -o small/none
expect_no_file small/none
[ -z "$(find small -name '.*')" ] || fail "left: $(find small -name '.*')"
