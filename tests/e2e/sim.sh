# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# A machine with SIMULATED hardware counters for one test; sourced after lib.sh. From meson: SIM
# (the stand-in for likwid-accessD). The real liblikwid, likwid-perfctr and likwid-mpirun run on it.
# What they count is plumbing, never performance; tests/sim/registers.h says what comes out.
#
#   sim_setup zen3|zen|skx|unsupported [N_CPUS]   from here on this test sees that machine: changes
#                                 PATH, HWLOC_XMLFILE, HWLOC_THISSYSTEM; registers of its own in
#                                 $sim. Skips the test where LIKWID is not installed.
#   sim_reset                     all registers as after power-on
#   sim_step EVENT UMASK [CPU]    prints by how much such a core counter moves at each read
#   sim_pids                      the daemons that are running now
: "${work:?}" "${SIM:?}" "${E2E:?}"
sim=

sim_setup()
{
	command -v likwid-perfctr >/dev/null || skip "LIKWID is not installed"
	sim=$work/sim-$1
	mkdir -p "$sim"
	cp "$SIM" "$sim/likwid-accessD"
	"$E2E/../sim/topology.sh" "$@" >"$sim/topology.xml"
	export PATH="$sim:$PATH" HWLOC_XMLFILE="$sim/topology.xml" HWLOC_THISSYSTEM=1
	sim_reset
	# A topology that hwloc does not like is passed over silently: then this is the real CPU.
	likwid-perfctr -i >"$sim/info" 2>&1 || [ "$1" = unsupported ] ||
		fail "likwid-perfctr -i: $(head -n 5 "$sim/info")"
	grep -q '^CPU name:.*Simulated' "$sim/info" ||
		fail "no simulated CPU: $(head -n 5 "$sim/info")"
}

sim_reset()
{
	rm -f "$sim/state"
}

sim_step()
{
	echo $((($(printf '%d' "${3:-0}") + 1) * (1000000 + 1000 * $1 + $2)))
}

sim_pids()
{
	for sim_exe in /proc/[0-9]*/exe; do
		if [ "$(readlink "$sim_exe" 2>/dev/null)" = "$sim/likwid-accessD" ]; then
			sim_pid=${sim_exe%/exe}
			echo "${sim_pid#/proc/}"
		fi
	done
}
