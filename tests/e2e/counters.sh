# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Scenarios on simulated counters, side by side: LIKWID sleeps for a second whenever it is
# initialised. Sourced after lib.sh and sim.sh.
#
#   sim_setup ..; scenario NAME COMMAND..   runs COMMAND in a process and a folder of its own, with
#                                 a copy of the simulated machine: registers are nobody else's
#   finish                        waits for all of them; the test fails when one has
#
# Within a scenario:
#   measure RULE.. -- PROGRAM ARGS    bare, then under `callmark run -g $groups -C $cpus`: the same
#                                     stdout and exit status, on stderr nothing more than our lines
#   by_hand RULE.. -- PROGRAM ARGS    the same without likwid-perfctr, which wants a LIKWID that
#                                     works: under `callmark run` in the environment it would make
#   likwid FILE EXPRESSION..          check_likwid.py
#   reader                            path of the real callmark-reader
#   fake_reader NAME                  what stdin says becomes a fake callmark-reader: CALLMARK_READER;
#                                     $reader in it is the real one
: "${work:?}" "${sim?}" "${CALLMARK:?}" "${E2E:?}"
N_SIDE_BY_SIDE=8
scenarios=
running=
groups=FLOPS_DP
cpus=0

run_scenario()
{
	work=$work/$1 name=$1
	shift
	mkdir "$work"
	cd "$work"
	mkdir spool machine
	export CALLMARK_SPOOL="$work/spool"
	cp "$sim/likwid-accessD" "$sim/topology.xml" machine
	PATH="$work/machine:${PATH#"$sim":}"
	sim=$work/machine
	export PATH HWLOC_XMLFILE="$sim/topology.xml"
	"$@"
	echo passed >verdict
}

scenario()
{
	if [ "$(echo "$running" | wc -w)" -ge $N_SIDE_BY_SIDE ]; then
		wait "${running%% *}" || : # its verdict is read later
		running=${running#* }
	fi
	(run_scenario "$@") >"$work/$1.log" 2>&1 &
	running="$running$! "
	scenarios="$scenarios $1"
}

finish()
{
	n_failed=0
	wait
	for scenario in $scenarios; do
		if [ -f "$work/$scenario/verdict" ]; then
			echo "passed: $scenario"
		elif grep '^SKIPPED' "$work/$scenario.log" >&2; then
			echo "skipped: $scenario"
		else
			echo "FAILED: $scenario" >&2
			cat "$work/$scenario.log" >&2
			n_failed=$((n_failed + 1))
		fi
	done
	[ $n_failed = 0 ] || fail "$n_failed scenarios failed"
}

# After both runs: nobody could tell the difference.
expect_invisible()
{
	cmp -s bare.out out || fail "another stdout than bare: $(diff bare.out out | head -n 10)"
	# How a program was killed is said by the shell there, by `run` here.
	sed -E '/^(Killed|Segmentation fault)/d' bare.err >bare.program
	sed -E '/^callmark(\[[0-9]+\])?: /d' err >err.program
	cmp -s bare.program err.program ||
		fail "another stderr: $(diff bare.program err.program)"
	expect_status "$bare_status"
	expect_clean
}

measure()
{
	bare "$@"
	bare_status=$status
	run_options="-C $cpus"
	for group in $groups; do
		run_options="$run_options -g $group"
	done
	profile "$@"
	expect_invisible
}

by_hand()
{
	bare "$@"
	bare_status=$status
	export LIKWID_MODE=1 LIKWID_EVENTS="$groups" LIKWID_THREADS="$cpus" \
		LIKWID_FILEPATH="$work/markers"
	profile "$@"
	expect_invisible
}

likwid()
{
	/usr/bin/python3 "$E2E/check_likwid.py" "$@" || fail "$1 is not as expected"
}

reader()
{
	realpath "${CALLMARK%/*}/../collector/callmark-reader"
}

fake_reader()
{
	{
		echo '#!/bin/sh'
		echo "reader='$(reader)'"
		cat
	} >"$1"
	chmod +x "$1"
	export CALLMARK_READER="$work/$1"
}
