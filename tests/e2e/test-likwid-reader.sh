#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark-reader with the real liblikwid on simulated counters: --check and --read.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"

reader=${CALLMARK%/cli/*}/collector/callmark-reader
python=/usr/bin/python3
zen_retired=$(sim_step 0xc0 0) # K of RETIRED_INSTRUCTIONS on CPU 0

# check STATUS REGEX: what --check says, in one line; nothing else is said, no daemon is left.
check()
{
	status=0
	timeout 20 "$reader" --check >out 2>err </dev/null || status=$?
	[ "$status" = "$1" ] || fail "--check: status $status, expected $1"
	[ "$(wc -l <out)" = 1 ] || fail "--check: not one line"
	grep -Eq "$2" out || fail "--check: expected $2"
	[ ! -s err ] || fail "--check: stderr"
	[ -z "$(sim_pids)" ] || fail "--check: a daemon is left: $(sim_pids)"
}

markers()
{
	rm -f "$LIKWID_FILEPATH"
	sim_reset
	timeout 60 "$python" "$E2E/likwid_markers.py" run "$@" || fail "markers: $*"
}

# read_back STATUS: --read, its stderr in err.
read_back()
{
	rm -f result.json
	cp "$LIKWID_FILEPATH" before 2>/dev/null || rm -f before
	status=0
	timeout 60 "$reader" --read "$work/result.json" --library "$library" >out 2>err </dev/null ||
		status=$?
	[ "$status" = "$1" ] || fail "--read: status $status, expected $1"
	[ ! -s out ] || fail "--read: stdout"
	[ ! -e before ] || cmp -s before "$LIKWID_FILEPATH" || fail "--read: the marker file changed"
	[ ! -e result.json.tmp ] || fail "--read: something is left"
	[ -z "$(sim_pids)" ] || fail "--read: a daemon is left"
	if [ "$1" = 0 ]; then
		[ ! -s err ] || fail "--read: stderr"
	else
		[ ! -e result.json ] || fail "--read: failed and left a result"
	fi
}

expect_result()
{
	"$python" "$E2E/likwid_markers.py" check result.json "$LIKWID_FILEPATH" "$@" ||
		fail "result.json"
}

refused()
{
	read_back 1
	[ "$(wc -l <err)" = 1 ] || fail "--read: not one line"
	grep -Eq "$1" err || fail "--read: expected $1"
}

sim_setup zen3 2
export LIKWID_MODE=1 LIKWID_EVENTS=FLOPS_DP LIKWID_THREADS=0,1 LIKWID_FILEPATH="$work/markers"

# --check ---------------------------------------------------------------------------------------
check 0 '^/.*/liblikwid\.so'
library=$(cat out)
[ -e "$library" ] || fail "$library is not there"
(export LIKWID_EVENTS='FLOPS_DP|CLOCK' && check 0 '^/')
(export LIKWID_EVENTS='RETIRED_INSTRUCTIONS:PMC0,CPU_CLOCKS_UNHALTED:PMC1' && check 0 '^/')
(export LIKWID_EVENTS='FLOPS_DP|NO_SUCH' && check 1 '^unknown group "NO_SUCH" \(likwid-perfctr -a')
(export LIKWID_EVENTS='../CLOCK' && check 1 '^unknown group')
(export LIKWID_EVENTS='NO_SUCH:PMC0' && check 1 'has no counter on this CPU \(Event NO_SUCH not found')
(export LIKWID_EVENTS='RETIRED_INSTRUCTIONS:MBOX0C0' && check 1 'has no counter .*MBOX0C0 not defined')
(export LIKWID_EVENTS='RETIRED_INSTRUCTIONS:' && check 1 'no list of EVENT:COUNTER')
(export LIKWID_THREADS=0,77 && check 1 '^LIKWID_THREADS names CPU 77, this machine has 2$')
(export LIKWID_THREADS=0-1 && check 1 '^LIKWID_THREADS=0-1: expected')
(export LIKWID_FILEPATH=/nonexistent/x && check 1 '^LIKWID_FILEPATH=/nonexistent/x cannot be written')
for name in LIKWID_MODE LIKWID_EVENTS LIKWID_THREADS LIKWID_FILEPATH; do
	(unset "$name" && check 1 "^$name is not set: start the program with")
done
if ! [ -e /dev/cpu/0/msr ]; then
	(export LIKWID_MODE=0 && check 1 '^LIKWID has no access to the counters')
fi

# A daemon that ends at once, and one that ends while it is asked.
mkdir broken
printf '#!/bin/sh\nexit 0\n' >broken/likwid-accessD
chmod +x broken/likwid-accessD
(export PATH="$work/broken:$PATH" && check 1 "likwid-accessD, is missing, not executable or")
cat >broken/likwid-accessD <<'DAEMON'
#!/usr/bin/python3
import os, socket
path = "/tmp/likwid-%d" % os.getpid()
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(1)
server.accept()
os.unlink(path)
DAEMON
(export PATH="$work/broken:$PATH" && check 1 '^LIKWID ended by signal 13 in perfmon_init: its access')

# LIKWID's own second of calibration is left out: its sleeps are ours.
nm -D "$reader" | grep -q ' T nanosleep$' || fail "callmark-reader has no nanosleep of its own"

# --read ----------------------------------------------------------------------------------------
# CPU 1 registers only what it enters: CPU 0 is absent from "b".
markers cpu=0 'a*3' cpu=1 'a*1' 'b*2' 'x/y:z -1*1'
read_back 0
expect_result "value('a', 'RETIRED_INSTRUCTIONS', 0) == 3 * $zen_retired" \
	"value('a', 'RETIRED_INSTRUCTIONS', 1) == 2 * $zen_retired" \
	"region('b')['cpus'] == [1]" "region('b')['counts'] == [2]" \
	"value('b', 'RETIRED_INSTRUCTIONS', 1) == 4 * $zen_retired" \
	"abs(metric('a', 'CPI', 0) * value('a', 'RETIRED_INSTRUCTIONS', 0) - value('a', 'CPU_CLOCKS_UNHALTED', 0)) < 1" \
	"result['groups'][0]['name'] == 'FLOPS_DP'" "result['cpu'] == 'Simulated Zen3'" \
	"result['library'] == '$library'" "region('x/y:z -1')['counts'] == [1]"

# Two groups; bytes that are no UTF-8.
export LIKWID_EVENTS='FLOPS_DP|CLOCK'
markers cpu=0 'a*2' "$(printf 'cut\303')*1" next 'a*1'
read_back 0
expect_result "[g['name'] for g in result['groups']] == ['FLOPS_DP', 'CLOCK']" \
	"region('a', 0)['counts'] == [2]" "region('a', 1)['counts'] == [1]" \
	"metric('a', 'CPI', 0, 1) > 0" "'Energy [J]' in result['groups'][1]['metrics']" \
	"region('cut\\udcc3')['tag'] == 'cut?'"
export LIKWID_EVENTS=FLOPS_DP

# As likwid-perfctr itself tells it: the same names, the same CPI.
cat >perfctr.sh <<'PROGRAM'
#!/bin/sh
/usr/bin/python3 "$E2E/likwid_markers.py" run cpu=0 'a*3'
cp "$LIKWID_FILEPATH" "$COPY"
PROGRAM
chmod +x perfctr.sh
sim_reset
E2E=$E2E COPY=$LIKWID_FILEPATH timeout 60 likwid-perfctr -C 0 -g FLOPS_DP -m -O ./perfctr.sh \
	>perfctr.csv 2>/dev/null || fail "likwid-perfctr"
LIKWID_THREADS=0 read_back 0
expect_result
"$python" - <<'COMPARE' || fail "not what likwid-perfctr says"
import json
rows = [line.rstrip("\n").split(",") for line in open("perfctr.csv", encoding="utf-8")]
told = {row[0]: row[1:] for row in rows if len(row) > 1}
result = json.load(open("result.json", encoding="utf-8"))
group, region = result["groups"][0], result["regions"][0]
for name, counter, row in zip(group["events"], group["counters"], region["events"]):
    assert told[name][0] == counter and float(told[name][1]) == row[0], (name, told[name], row)
for name, row in zip(group["metrics"], region["metrics"]):
    assert name in told, name
    if "Clock" not in name and "unhalted" not in name:  # those need the calibrated clock
        assert abs(float(told[name][0]) - row[0]) <= 1e-4 * abs(row[0]), (name, told[name], row)
COMPARE

# Neither of them touches counters that somebody is using, not even where LIKWID_FORCE allows it.
export LIKWID_FORCE=1
markers cpu=0 'other*1'
cp markers markers-other
markers cpu=0 start=a "sh=timeout 20 '$reader' --check >during 2>&1" \
	"sh=LIKWID_FILEPATH=$work/markers-other timeout 20 '$reader' --read $work/during.json --library '$library' >>during 2>&1" \
	stop=a
unset LIKWID_FORCE
read_back 0
expect_result "value('a', 'RETIRED_INSTRUCTIONS', 0) == $zen_retired"

# What would take LIKWID's own reader down is refused before it is called.
marker_file()
{
	"$python" -c 'import sys; print("1 1 1\n0:%s-0\n0 0 0 1 1.0 %s %s" % (sys.argv[1], sys.argv[2], sys.argv[3] * int(sys.argv[2])))' "$@" >markers
}
marker_file a 6 '1.0e+00 ' && read_back 0
marker_file a 79 '1.000000e+00 ' && refused '^LIKWID cannot read 79 events in one group back, at most 78$'
marker_file a 70 '1.00000000000000e+00 ' && refused '^LIKWID cannot read lines of'
marker_file a 5 '1.000000e+00 ' && refused '^LIKWID counts other events now than when a was measured$'
marker_file "$(printf '%0120d' 7)" 6 '1.0e+00 ' && refused '^LIKWID cannot read tags of 120 bytes$'
printf '2 2 1\n0:a-0\n1:b-0\n0 0 0 1 1.0 6 1 2 3 4 5 6 \n1 0 0 1 1.0 6 1 2' >markers
refused '^the marker file is damaged: .*markers line 5: cut off$'
printf '3 1 1\n0:a-0\n0 0 0 1 1.0 6 1 2 3 4 5 6 \n' >markers
refused '^the marker file has 3 threads, LIKWID_THREADS 2$'
printf '1 1 2\n0:a-1\n0 1 0 1 1.0 6 1 2 3 4 5 6 \n' >markers
refused '^the marker file has 2 groups, LIKWID_EVENTS 1$'
echo nonsense >markers && refused 'markers: not a marker file of LIKWID'
rm markers && refused 'markers: No such file or directory$'
printf '1 1 1\n0:a-0\n0 0 0 1 1.0 6 1 nan 3 4 5 6 \n' >markers
read_back 0
expect_result "region('a')['events'][1] == [None]"
(library=/nonexistent/liblikwid.so && refused '^cannot load liblikwid: /nonexistent')
(library=/lib/x86_64-linux-gnu/libm.so.6 && [ -e "$library" ] && refused 'LIKWID 5 is needed$')

# The command line.
for arguments in '' '--check --read x' '--read x' '--read x --check --library y' '--what'; do
	status=0
	# shellcheck disable=SC2086 # words
	"$reader" $arguments >out 2>err || status=$?
	[ "$status" = 2 ] || fail "callmark-reader $arguments: status $status"
	[ ! -s out ] || fail "callmark-reader $arguments: stdout"
done

# Other machines.
sim_setup skx 2
export LIKWID_EVENTS=MEM
check 0 '^/'
markers cpu=0 'a*2'
read_back 0
expect_result "result['groups'][0]['events'].count('CAS_COUNT_RD') == 6" \
	"'MBOX5C0' in result['groups'][0]['counters']" \
	"'Memory bandwidth [MBytes/s]' in result['groups'][0]['metrics']"
export LIKWID_EVENTS=FLOPS_DP
sim_setup unsupported 2
check 1 '^this CPU is not supported by this LIKWID \(family [0-9]+ model [0-9]+'

# Where LIKWID is: only where it can be hidden, in a mount namespace of our own.
sim_setup zen3 2
real=$(readlink -f "$library")
if ! unshare -m mount --bind /dev/null "$real" 2>/dev/null; then
	echo "SKIPPED: no mount namespace, LIKWID_HOME and the missing library were not tried"
	exit 0
fi
mkdir -p home/lib64 prefix/bin prefix/lib
cp "$real" home/lib64/liblikwid.so.5
cp "$real" prefix/lib/liblikwid.so
ln -s "$(command -v likwid-perfctr)" prefix/bin/likwid-perfctr
hidden()
{
	status=0
	unshare -m sh -c 'mount --bind /dev/null "$1" && shift && exec timeout 20 "$@"' sh "$real" \
		"$reader" --check >out 2>err || status=$?
	grep -Eq "$1" out || fail "LIKWID elsewhere: expected $1"
	[ ! -s err ] || fail "LIKWID elsewhere: stderr"
}
(export LIKWID_HOME="$work/home" && hidden "^$work/home/lib64/liblikwid.so.5$")
(export PATH="$work/prefix/bin:$PATH" && hidden "^$work/prefix/lib/liblikwid.so$")
(unset LIKWID_HOME && hidden '^(no liblikwid found \(looked in|cannot load liblikwid)')
