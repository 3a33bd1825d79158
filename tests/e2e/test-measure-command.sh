#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark measure with a command, whose window is from its start to its end; and the command line.
. "${0%/*}/lib.sh"
. "${0%/*}/fake-likwid.sh"
. "${0%/*}/sim.sh"

# measure STATUS OPTION.. [-- COMMAND]
measure()
{
	wanted=$1
	shift
	run_into out err timeout 60 "$CALLMARK" measure --events=A:PMC0 --cpus=0 --unit=A=1 "$@"
	expect_status "$wanted"
}

# refused TEXT OPTION..: one line, status 2, nothing is run.
refused()
{
	text=$1
	shift
	run_into out err timeout 60 "$CALLMARK" measure "$@" -- touch was-run
	expect_status 2
	[ ! -s out ] || fail "$*: something on stdout"
	grep -qF -- "$text" err || fail "$*: not said: $text"
	[ "$(grep -c . err)" -le 3 ] || fail "$*: $(grep -c . err) lines" # a hint at --help
	expect_no_file was-run
}

fake_likwid

### The command has our streams and descriptors, and nothing of LIKWID's or ours
echo input >in
measure 0 -- sh -c 'read -r line; echo "got $line"; echo "to stderr" >&2'
rm in
expect_line out '^got input$'
expect_line err '^to stderr$'
expect_line out '^status +complete$'
expect_line out '^A +PMC0 +0 +1000 +1$'
echo other >third
ls -1 /proc/self/fd 3<third >bare.out
measure 0 -o result -- ls -1 /proc/self/fd 3<third
cmp -s out bare.out || fail "other descriptors than bare: $(diff bare.out out)"
expect_line result '^status +complete$'
measure 0 -o result -- cat <third
[ ! -s out ] || fail "stdin was not empty"

### Streams that are closed: the command finds /dev/null
run_into out err timeout 60 sh -c '"$CALLMARK" measure --events=A:PMC0 --cpus=0 --unit=A=1 -o result \
	-- sh -c "cat; readlink /proc/self/fd/0" <&-'
expect_status 0
expect_line out '^/dev/null$'

### Arguments with any bytes; names that look like options
measure 0 -- printf '%s|' -o a 'b c' '' "$(printf '\377')" --json
[ "$(head -c 14 out | od -An -tx1 | tr -d ' \n')" = "2d6f7c617c6220637c7cff7c2d2d" ] ||
	fail "other arguments: $(od -c out)"
expect_line out 'status +complete$'

### It runs where we are, in our environment
mkdir here
(cd here && OURS=1 measure 0 -- sh -c 'pwd; echo "$OURS"' && grep -qx "$work/here" out && grep -qx 1 out) ||
	fail "not here"

### A command that fails, that cannot be run, that dies
measure 1 -- sh -c 'exit 3'
expect_line out '^reason +sh ended with status 3$'
! grep '^A ' out || fail "records of a command that failed"
measure 1 -- ./no-such-program
expect_line out '^reason +./no-such-program cannot be run: No such file or directory$'
measure 1 -- ./third
expect_line out '^reason +./third cannot be run: Permission denied$'
measure 1 -- sh -c 'kill -SEGV $$'
expect_line out '^reason +sh was ended by signal 11 \(Segmentation fault\)$'

### No counters: it is not run
fake_likwid init_fails
measure 3 -- touch was-run
expect_no_file was-run
expect_line out '^reason +initialization_refused$'
fake_likwid

### The deadline ends all of it
measure 1 --timeout=1 -- sh -c 'sleep 300 & trap "" TERM; echo $! >child; while :; do sleep 300; done'
expect_line out '^reason +timed out after 1 s$'
expect_line out '^detail +in the command$'
[ ! -e "/proc/$(cat child)" ] || fail "its child is left"

### A terminal: the command reads it, and it is ours again
/usr/bin/python3 - "$CALLMARK" <<'END' || fail "with a terminal"
import os
import pty
import sys

pid, terminal = pty.fork()
if pid == 0:
    script = ('"$0" measure --events=A:PMC0 --cpus=0 --unit=A=1 --timeout=20 -- '
              'sh -c "read -r line; echo got:\\$line"; read -r line; echo "then:$line"')
    os.execvp("sh", ["sh", "-c", script, sys.argv[1]])
os.write(terminal, b"first\nsecond\n")
text = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
os.waitpid(pid, 0)
for wanted in b"got:first", b"status", b"complete", b"then:second":
    assert wanted in text, (wanted, text)
END

### Outputs that cannot be written are found out before
measure 1 -o no/such/folder -- touch was-run
expect_line err 'no/such/folder'
expect_no_file was-run
measure 0 -o /dev/null -- true

### The declaration: what is refused, in the order of the checks
e=--events=A:PMC0 c=--cpus=0 u=--unit=A=1
refused 'event_set is missing' $c $u
refused 'cpuids is missing' $e $u
refused 'units: A has no unit' $e $c
refused 'event_set is empty' --events= $c $u
refused 'has no counter' --events=FLOPS_DP $c $u
refused 'an event is missing' $e, $c $u
refused 'options of events are not taken' $e:EDGEDETECT $c $u
refused 'the counter is not FIXC<n> or PMC<n>' --events=A:MBOX0C0 $c $u
refused 'the event A is there twice' $e,A:PMC1 $c $u
refused 'the counter PMC0 is there twice' $e,B:PMC0 $c $u
refused 'CPU 0 is there twice' $e --cpus=0,0 $u
refused "is not in the calling thread's affinity" $e --cpus=2147483647 $u
refused '"B" is no event' $e $c $u --unit=B=1
refused 'A has two units' $e $c $u $u
refused 'units: "" of A' $e $c --unit=A=
### And the command line
for cpus in '' -1 1- 0-1 x 0,,1 0x1 ' 0' 2147483648; do
	refused 'expected CPU numbers' $e "--cpus=$cpus" $u
done
refused 'expected EVENT=UNIT' $e $c --unit=A
for seconds in 0 -1 x '' 1.5 99999999999999999999; do
	refused 'expected whole seconds' $e $c $u "--timeout=$seconds"
done
refused 'are for a worker' $e $c $u --oracle=o
refused 'expected 64 hexadecimal digits' $e $c $u --sha256=12
refused 'name the target' $e $c $u --target-soname=x
refused 'expected WORKER.so or -- COMMAND' $e $c $u w.so
for arguments in '' 'a.so b.so' '--'; do
	# shellcheck disable=SC2086 # split on purpose
	run_into out err "$CALLMARK" measure $e $c $u $arguments
	expect_status 2
done

### Exact values on simulated counters; as restricted as we are
unset LD_LIBRARY_PATH FAKE_LIKWID FAKE_LIKWID_LOG
sim_setup zen3
sim()
{
	sim_reset
	run_into out err timeout 60 "$@" --json --events=RETIRED_INSTRUCTIONS:PMC0 \
		--unit=RETIRED_INSTRUCTIONS=1 --cpus=$cpu -- sh -c 'sleep 0; exit 0'
	expect_status "$wanted"
}
cpu=0 wanted=0
sim "$CALLMARK" measure
expect_line out "\"value\":$(sim_step 192 0).0}"
expect_line out '"is_simulated":true'
if [ "$(nproc)" -gt 1 ]; then
	cpu=1
	sim taskset -c 1 "$CALLMARK" measure
	expect_line out "\"value\":$(sim_step 192 0 1).0}"
	expect_line out '"allowed_cpuids":\[1\]'
	cpu=0 wanted=2
	sim taskset -c 1 "$CALLMARK" measure
fi
[ -z "$(sim_pids)" ] || fail "a daemon is left"
