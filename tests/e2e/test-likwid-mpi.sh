#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# likwid-mpirun, two ranks: one file with the counters of both, each on its own CPU. On simulated
# counters.
. "${0%/*}/lib.sh"
. "${0%/*}/sim.sh"
. "${0%/*}/counters.sh"

[ -x "$TARGETS/mpi-ring" ] || skip "no MPI compiler: mpi-ring was not built"
command -v likwid-mpirun >/dev/null || skip "no likwid-mpirun"
command -v mpirun >/dev/null || skip "no mpirun"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
export OMPI_MCA_btl=vader,self OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

run_mpi()
{
	run_into out err likwid-mpirun -np 2 -mpi openmpi -e PATH="$PATH" -g "$groups" -m "$@"
	expect_status 0
	expect_line out '^2 ranks, sum 1$'
	expect_clean
}

# Every rank counts on its own CPU, where a read moves a counter (cpu + 1) times as far; LIKWID
# calls the groups of such a run Custom.
two_ranks()
{
	run_mpi "$CALLMARK" run -s 'MPI_*' -- "$TARGETS/mpi-ring" 20
	likwid profiling_data.h5 'ranks() == [0, 1]' 'metadata("mpi_size") == 2' \
		'[calls("MPI_Comm_rank", r) for r in (0, 1)] == [21, 22]' \
		'[sources(rank=r) for r in (0, 1)] == [{"full_api"}] * 2' \
		'counted_tags(0) == tags(0)' 'counted_tags(1) == tags(1)' \
		'all(cpus(tag, rank=r) == [r] for r in (0, 1) for tag in tags(r))' \
		'all(counted(tag, rank=r) == calls(tag, r) for r in (0, 1) for tag in tags(r))' \
		'all(reads(tag, r, rank=r) == calls(tag, r) for r in (0, 1) for tag in tags(r))' \
		'groups("MPI_Init", 1) == ["Custom"]' '[skipped(rank=r) for r in (0, 1)] == [0, 0]'
	files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
	[ "$files" = 1 ] || fail "$files files instead of one: $(echo ./*.h5)"
	# LIKWID's own summary is made from the files that we have left in place.
	expect_line out '^\| +Region calls +\| +CTR +\| +21 \| +22 \|$'
	expect_line out "^\|.*RETIRED_INSTRUCTIONS +\|.* $((20 * $(sim_step 192 0))) \\| +$((
		20 * $(sim_step 192 0 1))) \\|\$"
}

sim_setup zen3 2
scenario two_ranks two_ranks
finish
