#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# callmark doctor: what it says of machines that can count (SIMULATED) and of those that cannot.
# shellcheck source-path=SCRIPTDIR
. "$E2E/lib.sh"
# shellcheck source-path=SCRIPTDIR
. "$E2E/sim.sh"
plain_path=$PATH

run_into out err "$CALLMARK" doctor --help
expect_status 0
run_into out err "$CALLMARK" doctor nonsense
expect_status 2

sim_setup zen3
run_into out err "$CALLMARK" doctor
expect_status 0
[ ! -s err ] || fail "a message"
for topic in preload collector reader sites cache spool LIKWID liblikwid CPU groups attempt; do
	expect_line out "^  ok +$topic "
done
expect_line out '^  note +simulated .*HWLOC_XMLFILE'
expect_line out '^  ok +CPU +Simulated Zen3, AMD K19'
expect_line out 'can work here, SIMULATED: the numbers mean nothing'
! grep -q '^  NO' out || fail "something is not as it should be"

# In the environment that likwid-perfctr makes, and in a part of it.
LIKWID_EVENTS=ENERGY LIKWID_MODE=1 LIKWID_THREADS=0 LIKWID_FILEPATH=$work/m \
	run_into out err "$CALLMARK" doctor
expect_status 0
expect_line out 'LIKWID is told to count ENERGY on the CPUs 0'
LIKWID_EVENTS=ENERGY run_into out err "$CALLMARK" doctor
expect_status 0
expect_line out 'LIKWID_EVENTS is set, but not LIKWID_FILEPATH'
expect_line out '-> unset LIKWID_MODE'

# No spool.
CALLMARK_SPOOL=/nonexistent run_into out err "$CALLMARK" doctor
expect_status 1
expect_line out '^  NO +spool +/nonexistent cannot be written'
expect_line out '-> name another folder'

# A daemon that cannot be executed, and no other one.
chmod -x "$sim/likwid-accessD"
PATH="$sim:/usr/bin:/bin" run_into out err "$CALLMARK" doctor
expect_status 1
expect_line out '^  NO +attempt .*access'
expect_line out '^  NO +daemon +no executable likwid-accessD'
expect_line out 'chmod u\+s'
expect_line out '^Hardware counters cannot work here; timings can'

PATH=$plain_path
sim_setup unsupported
run_into out err "$CALLMARK" doctor
expect_status 1
expect_line out '^  NO +CPU +Simulated unsupported is not known to this LIKWID'
expect_line out '-> a newer LIKWID may know it'

# shellcheck disable=SC2123 # nothing in it
PATH=$work/empty run_into out err "$CALLMARK" doctor
expect_status 1
expect_line out '^  NO +LIKWID +likwid-perfctr is neither in PATH'
expect_line out '-> Debian: apt-get install likwid'
