#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark run -g: the real LIKWID on SIMULATED counters. What is counted, what the program sees of
# it (nothing), and each way in which there can be no counters.
# shellcheck source-path=SCRIPTDIR disable=SC2016 # the program's own $
. "$E2E/lib.sh"
# shellcheck source-path=SCRIPTDIR
. "$E2E/sim.sh"
sim_setup zen3
allowed=$(sed -n 's/^Cpus_allowed_list:[[:blank:]]*//p' /proc/self/status)
cpu=${allowed%%[,-]*}
plain=$CALLMARK

# The arguments as they are, the descriptors, the status.
cat >show.py <<'END'
import os, sys
print(sys.argv[1:])
print(repr(sys.stdin.read()))
print(os.isatty(1), sorted(os.listdir("/proc/self/fd"))[:3], file=sys.stderr)
sys.exit(7)
END

# Exact counts: 10 calls, each moves a counter by its step once.
counted()
{
	sim_reset
	run_options="-g FLOPS_DP -C $cpu"
	profile callee_add -- "$TARGETS/calls-lazy" 10
	expect_status 0
	[ "$(cat out)" = 55 ] || fail "another stdout"
	[ ! -s err ] || fail "a counted run is silent"
	h5 profiling_data.h5 'calls("callee_add") == 10'
	/usr/bin/python3 - profiling_data.h5 "$((10 * $(sim_step 0xc0 0 "$cpu")))" "$cpu" <<'END' || fail "other counts"
import sys
import h5py

region = h5py.File(sys.argv[1])["rank0/likwid/regions/callee_add"]
names = [name.decode() if isinstance(name, bytes) else name for name in region.attrs["event_names"]]
assert region.attrs["source"] in ("full_api", b"full_api"), region.attrs["source"]
assert list(region["cpus"]) == [int(sys.argv[3])], list(region["cpus"])
assert list(region["call_counts"]) == [10], list(region["call_counts"])
value = region["events"][names.index("RETIRED_INSTRUCTIONS"), 0]
assert value == int(sys.argv[2]), (value, sys.argv[2])
END
	expect_clean
}

two_groups()
{
	sim_reset
	run_options="-g FLOPS_DP -g CLOCK -C $cpu"
	profile callee_add -- "$TARGETS/calls-lazy" 3
	expect_status 0
	[ ! -s err ] || fail "a counted run is silent"
	h5 profiling_data.h5 'calls("callee_add") == 3'
	run_into out err "$CALLMARK" inspect profiling_data.h5
	expect_line out 'group FLOPS_DP'
}

# As bare, byte for byte.
unharmed()
{
	printf 'one\ntwo' >in
	run_options="-g CLOCK -C $cpu"
	newline=$(printf 'a\nb')
	compare isatty -- /usr/bin/python3 show.py 'two words' '' "it's" '"q"' \
		"$newline" '*' '-g' '$HOME'
}

# Where the program ran and what was loaded into it, in which order.
surroundings()
{
	rm -f in
	run_options="-v -g CLOCK -C $cpu"
	export LD_PRELOAD=libc.so.6
	profile 'callee_*' -- /bin/sh -c 'echo "$LD_PRELOAD $LIKWID_EVENTS $LIKWID_THREADS"
		grep Cpus_allowed_list /proc/self/status; env | grep -c CALLMARK_CAPTURE'
	unset LD_PRELOAD
	expect_line out "^[^:]*/libcallmark-preload.so:libc.so.6 CLOCK $cpu\$"
	expect_line out "Cpus_allowed_list:[[:blank:]]*$cpu\$"
	expect_line out '^0$'
	expect_line err "asking .*likwid-perfctr -m -g CLOCK -C $cpu "
	case $allowed in
	*[,-]*)
		run_options="-g CLOCK -C $allowed"
		LD_PRELOAD=libc.so.6 profile 'callee_*' -- /bin/sh -c 'echo "$LD_PRELOAD"'
		expect_line out '/libcallmark-preload.so:[^:]*/liblikwidpin.so[^:]*:libc.so.6$'
		;;
	esac
	run_options='-g CLOCK'
	profile 'callee_*' -- /bin/sh -c 'grep Cpus_allowed_list /proc/self/status; echo "pin=$LIKWID_PIN"'
	expect_line out "Cpus_allowed_list:[[:blank:]]*$allowed\$"
	expect_line out '^pin=$'
}

# behind WORD..: from here on `callmark` is started as WORD.. callmark, or with such a variable.
behind()
{
	printf '#!/bin/sh\nexec /usr/bin/env %s "%s" "$@"\n' "$*" "$plain" >wrapped
	chmod +x wrapped
	CALLMARK=$PWD/wrapped
}

# refused LINE OPTIONS..: one line that says so, the program ran once, its calls are timed.
refused()
{
	line=$1
	shift
	rm -f profiling_data.h5 ran
	run_options="$*"
	profile callee_add -- /bin/sh -c 'echo ran >>ran; exec "$0" 4' "$TARGETS/calls-lazy"
	expect_status 0
	[ "$(cat ran)" = ran ] || fail "the program was started $(wc -l <ran) times"
	expect_line err "$line"
	[ "$(wc -l <err)" = 1 ] || fail "more than one line"
	h5 profiling_data.h5 'calls("callee_add") == 4'
	expect_clean
}

bad_input()
{
	refused 'no counters.*-g NOSUCH: LIKWID has no group of that name' -g NOSUCH -C "$cpu"
	refused 'no counters.*-g NOSUCH: LIKWID has no group' -g CLOCK -g NOSUCH -C "$cpu"
	refused 'no counters.*-g NO:PMC0: none of its events' -g NO:PMC0 -C "$cpu"
	refused 'no counters.*-C 999: only the CPUs .* may be used' -g CLOCK -C 999
	refused 'no counters.*: a CPU is named twice' -g CLOCK -C "$cpu,$cpu"
	refused 'no counters.*-C X:1: LIKWID finds no such CPUs' -g CLOCK -C X:1
	case $allowed in
	*[,-]*)
		# LIKWID alone would count on another CPU than was asked for.
		other=${allowed##*[,-]}
		behind taskset -c "$other"
		refused "no counters.*-C $cpu: only the CPUs $other may be used" -g CLOCK -C "$cpu"
		sim_reset
		run_options="-g CLOCK -C $other"
		profile callee_add -- /bin/sh -c 'echo "$LIKWID_THREADS $LIKWID_PIN"'
		expect_line out "^$other $other\$"
		CALLMARK=$plain
		;;
	esac
	run_into out err "$CALLMARK" run -C 0 -s callee_add -- /bin/true
	expect_status 2
	expect_line err 'name a group with -g'
}

no_access()
{
	mv "$sim/likwid-accessD" daemon
	behind "PATH=$sim:/usr/bin:/bin" # without the real daemon's folder
	refused 'no counters.*: no access to the counters' -g CLOCK -C "$cpu"
	mv daemon "$sim/likwid-accessD"
	mkdir -p empty
	behind "PATH=$PWD/empty"
	refused 'no counters.*likwid-perfctr is neither in PATH' -g CLOCK
	CALLMARK=$plain
}

# What another tool set up counts; a part of it does not.
environment()
{
	export LIKWID_EVENTS=CLOCK LIKWID_MODE=1 LIKWID_THREADS="$cpu" LIKWID_FILEPATH="$work/theirs"
	run_options="-g ENERGY"
	profile callee_add -- /bin/sh -c 'echo "$LIKWID_EVENTS $LIKWID_FILEPATH"'
	expect_line out "^CLOCK $work/theirs\$"
	expect_line err '-g ENERGY is not used: LIKWID was already told to count CLOCK'
	unset LIKWID_MODE LIKWID_THREADS LIKWID_FILEPATH
	profile callee_add -- /bin/sh -c 'echo "$LIKWID_EVENTS"'
	expect_line out '^ENERGY$'
	expect_line err 'LIKWID_EVENTS is set, but not .*: -g replaces them'
	unset LIKWID_EVENTS
}

# Its last argument names the process that asks.
wait_for_perfctr()
{
	n_tries=0
	until pgrep -f "likwid-perfctr.* /proc/$1/exe" >/dev/null; do
		n_tries=$((n_tries + 1))
		[ "$n_tries" -lt 40 ] || fail "likwid-perfctr did not start"
		sleep 0.05
	done
}

wait_for_file()
{
	n_tries=0
	until [ -e "$1" ]; do
		n_tries=$((n_tries + 1))
		[ "$n_tries" -lt 200 ] || fail "no file $1"
		sleep 0.05
	done
}

# While likwid-perfctr is at work, a signal ends all of it: nothing is started, nothing is left.
interrupted()
{
	rm -f started
	"$CALLMARK" run -g CLOCK -s callee_add -- touch started >out 2>err &
	runner=$!
	wait_for_perfctr "$runner"
	kill -TERM "$runner"
	status=0
	wait "$runner" || status=$?
	expect_status 143
	! pgrep -f "/proc/$runner/exe" || fail "likwid-perfctr is left"
	expect_no_file started
	expect_clean
}

# What the program stands in does not matter to signals: they reach it, and its end is reported.
killed()
{
	rm -f started
	"$CALLMARK" run -g CLOCK -s callee_add -- /bin/sh -c 'touch started; exec sleep 20' >out 2>err &
	runner=$!
	wait_for_file started
	kill -TERM "$runner"
	status=0
	wait "$runner" || status=$?
	expect_status 143
	expect_line err 'Terminated'
	expect_clean
}

# `run` itself killed: the program counts on, and recover takes everything away.
abandoned()
{
	rm -f started profiling_data.h5
	"$CALLMARK" run -g CLOCK -s callee_add -- \
		/bin/sh -c 'touch started; sleep 1; "$0" 5; touch ended' "$TARGETS/calls-lazy" >out 2>err &
	runner=$!
	wait_for_file started
	kill -KILL "$runner"
	wait "$runner" || :
	wait_for_file ended
	run_into out err "$CALLMARK" recover
	expect_no_file spool/callmark-*/*/markers-*
	expect_clean
	h5 profiling_data.h5 'calls("callee_add") == 5'
}

for case in counted two_groups unharmed surroundings bad_input no_access environment interrupted \
	killed abandoned; do
	echo "-- $case"
	$case
done
