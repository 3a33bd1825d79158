#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI, 4 ranks, MPI_*: one file with rank0..rank3 and exact counts, whoever starts whom.
. "${0%/*}/lib.sh"

[ -x "$TARGETS/mpi-ring" ] || skip "no MPI compiler: mpi-ring was not built"
# One machine, no ssh, whatever user and however few cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
export OMPI_MCA_btl=vader,self OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_tmpdir_base="$work"

check()
{
	expect_status 0
	cmp bare.out out || fail "another output than bare"
	expect_clean
	h5 profiling_data.h5 'ranks() == [0, 1, 2, 3]' 'metadata("mpi_size") == 4' \
		'[calls("MPI_Comm_rank", r) for r in range(4)] == [21, 22, 23, 24]' \
		'[calls("MPI_Sendrecv", r) for r in range(4)] == [20] * 4' \
		'[calls("MPI_Allreduce", r) for r in range(4)] == [1] * 4' \
		'[calls("MPI_Init", r) for r in range(4)] == [1] * 4' \
		'[calls("MPI_Finalize", r) for r in range(4)] == [1] * 4' \
		'[rows("MPI_Sendrecv", r) for r in range(4)] == [20] * 4' \
		'all("MPI_Sendrecv" in tags(r) for r in range(4))' \
		'len(set(rank_attr("pid", r) for r in range(4))) == 4' \
		'not file.get("rank0", getlink=True).__class__.__name__.startswith("External")'
	files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
	[ "$files" = 1 ] || fail "$files files instead of one: $(echo ./*.h5)"
}

bare -- mpirun -n 4 "$TARGETS/mpi-ring" 20
expect_status 0
expect_line bare.out '^4 ranks, sum 6$'

# The launcher starts `callmark run` on every rank.
run_into out err mpirun -n 4 "$CALLMARK" run -s 'MPI_*' -- "$TARGETS/mpi-ring" 20
check
rm profiling_data.h5

# `callmark run` starts the launcher.
profile 'MPI_*' -- mpirun -n 4 "$TARGETS/mpi-ring" 20
check

# A second run replaces the file of the first: no rank of it is left.
profile 'MPI_*' -- mpirun -n 2 "$TARGETS/mpi-ring" 5
expect_status 0
h5 profiling_data.h5 'ranks() == [0, 1]' '[calls("MPI_Sendrecv", r) for r in range(2)] == [5, 5]'
rm profiling_data.h5

# One file a rank, by name.
run_options="-o rank%r.h5"
profile 'MPI_Send*' -- mpirun -n 3 "$TARGETS/mpi-ring" 5
expect_status 0
for rank in 0 1 2; do
	h5 "rank$rank.h5" "ranks() == [$rank]" "calls('MPI_Sendrecv') == 5"
done
