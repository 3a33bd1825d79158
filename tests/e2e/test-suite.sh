#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark suite: what a run writes, on a machine without counters and on SIMULATED ones; refusals;
# evidence that was tampered with. test-suite-kill.sh has the runs that are killed.
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

report()
{
	suite 0 report "$1" --format=json -o report.json
}

for name in row fails-in-setup fails-in-workload fails-in-cleanup crashes-in-setup exits-in-setup \
	talks-in-setup hangs-in-setup; do
	cp "$TARGETS/suite-row.so" $name.so
done
cp "$TARGETS/worker-empty.so" empty.so
cp "$TARGETS/suite-row.so" target.so

### Usage and refused files: nothing is run, nothing is made
suite 0 --help
for arguments in '' run 'run x.json' 'verify' 'walk x' 'verify x y' 'verify x --strict' \
	'verify x -o y' 'run x.json -o y -f json' 'report x -f xml'; do
	# shellcheck disable=SC2086 # split on purpose
	suite 2 $arguments
done
suite 2 run missing.json -o new
expect_line err '^callmark: missing.json: '
printf '{"callmark_suite": 1,\n "name": "x", "rows": [}' >bad.json
suite 2 run bad.json -o new
expect_line err '^callmark: bad.json:2:[0-9]+: '
file make bad.json planned counted
sed -i 's/"RETIRED_INSTRUCTIONS:PMC0"/"FLOPS_DP"/' bad.json
suite 2 run bad.json -o new
expect_line err '^callmark: bad.json: row 2 \(counted-2/worker\): events: "FLOPS_DP" has no counter'
sed -i 's/"FLOPS_DP"/"RETIRED_INSTRUCTIONS:PMC0"/; s/"counted-2"/"planned-1"/' bad.json
suite 2 run bad.json -o new
expect_line err '^callmark: bad.json: row 2 \(planned-1/worker\): case, target.id: row 1 has the same'
file make bad.json planned counted
sed -i 's/^     *0$/99999/' bad.json
suite 2 run bad.json -o new
expect_line err 'row 2 \(.*\): cpus: CPU 99999 is not in the calling thread.s affinity'
expect_no_file new .new*

### The published schema says the same as the parser
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
	file schema "$E2E/../../cli/suite.schema.json" "$CALLMARK"
fi

### Without counters: every row is honestly unavailable, and that is no failure
mkdir nothing
file make none.json planned counted warned no-oracle
sim_setup unsupported
suite 0 run none.json -o nothing/none --strict
expect_line out '^1/4  planned-1/worker  unavailable: no such machine$'
expect_line out '^2/4  counted-2/worker  unavailable: initialization_refused$'
expect_line out '^suite <&>: partially_executed; 4 unavailable; evidence in nothing/none$'
[ ! -s err ] || fail "a message"
suite 0 verify nothing/none
expect_line out '^nothing/none: 10 files of 4 rows are as they were written; partially_executed$'
report nothing/none
file rows nothing/none "report['verdict'] == 'partially_executed' and report['complete']" \
	"[r['verdict'] for r in report['rows']] == ['unavailable'] * 4" \
	"report['rows'][0]['evidence'] is None and report['rows'][0]['planned']" \
	"all(r['evidence']['observations'] == [] for r in report['rows'][1:])" \
	"report['rows'][1]['oracle'] == 'not_checked'" \
	"'evidence' not in row(1) and 'evidence' in row(2)" \
	"row(2)['evidence/diagnostic'].attrs['step'] != ''" \
	"'HOME' in [text(x) for x in row(2)['evidence/diagnostic/environment']]" \
	"not any('=' in text(x) for x in row(2)['evidence/diagnostic/environment'])"
cmp none.json nothing/none/suite.json || fail "another declaration"

### An existing destination stays as it is
cp -a nothing before
suite 2 run none.json -o nothing/none
expect_line err '^callmark: nothing/none: is there already'
suite 2 run none.json -o nothing/none/
ln -s /nonexistent dangling
mkdir hollow
echo mine >taken
for name in dangling hollow taken; do
	suite 2 run none.json -o $name
	expect_line err "^callmark: $name: is there already"
done
diff -r nothing before >/dev/null || fail "an existing folder was changed"
[ "$(cat taken)" = mine ] || fail "an existing file was changed"
suite 3 run none.json -o absent/new
expect_line err 'absent/new: cannot make a folder beside it: No such file'

### With counters, SIMULATED: complete, to the last digit
sim_setup zen3
file make one.json two target
suite 0 run one.json -o one --strict
expect_line out '^suite <&>: validated; 2 pass; evidence in one$'
report one
file rows one \
	"[(o['event'], o['counter'], o['cpu'], o['unit'], o['value']) for o in \
	report['rows'][0]['evidence']['observations']] == [\
	('RETIRED_INSTRUCTIONS', 'PMC0', 1, '1', $(sim_step 192 0 1)), \
	('CPU_CLOCKS_UNHALTED', 'PMC1', 1, 'cycles', $(sim_step 118 0 1)), \
	('RETIRED_INSTRUCTIONS', 'PMC0', 0, '1', $(sim_step 192 0 0)), \
	('CPU_CLOCKS_UNHALTED', 'PMC1', 0, 'cycles', $(sim_step 118 0 0))]" \
	"report['rows'][0]['evidence']['is_simulated']" \
	"list(row(1)['evidence/observations/value']) == \
	[float(x) for x in row(1)['evidence/observations/raw_value']]" \
	"row(1)['evidence/observations'].attrs['exact_integer'] == 0" \
	"row(1)['evidence/observations'].attrs['scaled'] == 0" \
	"text(row(1)['evidence/observations'].attrs['enabled_time_absent']) != ''" \
	"text(row(1)['evidence/observations'].attrs['running_time_absent']) != ''" \
	"row(1)['evidence'].attrs['group_time_seconds'] >= 0" \
	"text(row(1)['evidence'].attrs['access_mode']) == 'DAEMON'" \
	"'perf_pid' not in row(1)['evidence'].attrs" \
	"list(row(1)['declaration/cpus']) == [1, 0]" \
	"len(set(row(1)['evidence/observations/definition_id'])) == 4" \
	"text(f.attrs['run_id']) == report['run_id'] == text(row(2).attrs['run_id'])" \
	"f['rows/two-1/worker/evidence/observations/value'][0] == $(sim_step 192 0 1)" \
	"f['rows/target-2/t'].attrs['row'] == 2" \
	"report['rows'][1]['identity']['target_sha256'] == '$(sha256sum target.so | cut -d' ' -f1)'"
suite 0 report one
expect_line out '^Verdict: \*\*validated\*\*$'
expect_line out "^\| RETIRED\\\\_INSTRUCTIONS \| PMC0 \| 1 \| $(sim_step 192 0 1) \| 1 \|$"
expect_line out 'These counters are simulated'

### What was counted once stays; who forges it has to change the ids too
cp -a one forged
file forge forged
suite 1 verify forged
expect_line err '^callmark: forged/rows/0001/row.h5: an observation is not of what its id says$'
suite 1 report forged

### Every outcome, in one suite; one row never stops another
file make all.json planned counted warned wrong no-oracle blocked setup workload cleanup crash \
	exit talk hang absent empty tampered target=$(printf '%064d' 0)
suite 0 run all.json -o all
expect_line out '^suite <&>: execution_failed; 3 pass 3 unavailable 2 invalid 1 blocked 8 error; '
suite 1 run all.json -o all-strict --strict
suite 0 verify all-strict
report all
file rows all \
	"[r['verdict'] for r in report['rows']] == ['unavailable', 'pass', 'pass', 'invalid', \
	'invalid', 'blocked', 'error', 'error', 'error', 'error', 'error', \
	'pass', 'error', 'error', 'error', 'unavailable', 'unavailable']" \
	"report['rows'][2]['n_warnings'] == 1" \
	"report['rows'][5]['probes'][1]['state'] == 'held'" \
	"len(report['rows'][3]['evidence']['observations']) == 1" \
	"all(r['evidence']['observations'] == [] for r in report['rows'][5:11])" \
	"report['rows'][12]['reason'].startswith('timed out after 1 s')" \
	"report['rows'][12]['evidence']['diagnostic']['timed_out']" \
	"report['rows'][15]['reason'] == 'identity_mismatch'" \
	"report['rows'][16]['reason'] == 'identity_mismatch'" \
	"report['rows'][11]['evidence']['diagnostic']['last_output'] == 'a line <&> of the worker\n'" \
	"len(set(r['evidence']['attempt_id'] for r in report['rows'][1:])) == 16"
suite 0 report all --format=junit -o all.xml
/usr/bin/python3 - <<'END' || fail "the JUnit report"
import xml.etree.ElementTree as tree
root = tree.parse("all.xml").getroot()
cases = root.findall("testcase")
assert root.get("name") == "suite <&>" and len(cases) == int(root.get("tests")) == 17
assert len(root.findall("testcase/failure")) == int(root.get("failures")) >= 10
assert len(root.findall("testcase/skipped")) == int(root.get("skipped")) >= 3
assert cases[3].find("failure").get("type") == "invalid"
assert cases[5].find("failure").get("type") == "blocked"
assert cases[0].find("skipped").get("message") == "no such machine"
END

### What was changed, is missing or does not belong there is found, and named
tampered()
{
	suite 1 verify tampered
	expect_line err "^callmark: tampered/$1: $2"
	rm -rf tampered
	cp -a one tampered
}
cp -a one tampered
printf x | dd of=tampered/rows/0001/row.h5 bs=1 seek=5000 conv=notrunc 2>/dev/null
tampered rows/0001/row.h5 'has another content$'
printf x >>tampered/suite.h5
tampered suite.h5 'has another size$'
sed -i 's/suite/Suite/' tampered/suite.json
tampered suite.json 'has another content$'
rm tampered/rows/0002/row.h5
tampered rows/0002/row.h5 'missing$'
rm -r tampered/rows/0002
tampered rows/0002 'missing$'
cp -r tampered/rows/0001 tampered/rows/0003
tampered rows/0003 'does not belong here$'
cp tampered/rows/0001/* tampered/rows/0002
tampered rows/0002/row.h5 'has another'
sed -i 's/"complete": true/"complete": false/' tampered/integrity.json
tampered integrity.json 'is not what a run writes$'
sed -i 's/"validated"/"executed"/' tampered/integrity.json
tampered integrity.json 'its verdict is not that of the rows$'
: >tampered/integrity.json
tampered integrity.json ''
rm tampered/integrity.json
tampered integrity.json 'No such file'
sed -i 's/"verdict": "pass"/"verdict": "error"/' tampered/rows/0001/integrity.json
tampered rows/0001/integrity.json 'has another'
suite 0 verify tampered
suite 1 verify missing
suite 1 verify one.json

[ -z "$(sim_pids)" ] || fail "a daemon is left"

### The README's example, with the worker of callmark/worker.h
command -v cc >/dev/null || skip "no compiler for the README's example"
sed -n '/^## Declared counter windows/,/^## /{/^```json/,/^```$/p}' "$E2E/../../README.md" |
	grep -v '^```' >sums.json
sed -n '/^ \* EXAMPLE/,/^ \* SEE ALSO/s/^ \*\t//p' "$E2E/../../collector/callmark/worker.h" >sum.c
cc -shared -fPIC -I"$E2E/../../collector" -o sum.so sum.c || fail "worker.h's example"
suite 0 run sums.json -o counted
expect_line out '^1/2  sum/libc-6  pass$'
expect_line out '^sums: partially_executed; 1 pass 1 unavailable; evidence in counted$'
sim_setup unsupported
suite 0 run sums.json -o evidence
cp out run.out
suite 0 verify evidence
cat run.out out >have
sed -n '/^\$ callmark suite run sums.json/,/^```/p' "$E2E/../../README.md" | grep -v '^[$`]' >want
cmp want have || fail "the README shows something else: $(diff want have)"
