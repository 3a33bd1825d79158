# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the tests with a real MPI share; sourced after lib.sh.
#
#   for_each_mpi FUNCTION     calls it with $mpi openmpi and mpich, those that are there; skips the
#                             test when neither is
#   launch N PROGRAM..        mpirun of $mpi, on one machine, whatever user and however few cores
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated
export OMPI_MCA_btl=vader,self OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_orte_tmpdir_base="$work"

for_each_mpi()
{
	n_mpi=0
	for mpi in openmpi mpich; do
		if [ ! -x "$TARGETS/mpi-ring.$mpi" ] ||
			! command -v "mpirun.$mpi" >/dev/null; then
			continue
		fi
		n_mpi=$((n_mpi + 1))
		"$1"
	done
	[ "$n_mpi" -gt 0 ] || skip "no MPI: mpi-ring was not built"
}

launch()
{
	n_ranks=$1
	shift
	timeout 60 "mpirun.$mpi" -n "$n_ranks" "$@"
}

# The file of mpi-ring and its Fortran versions with 20 rounds: $1 ranks, the symbols of the rules
# region's calls in $2.
check_ring()
{
	expect_status 0
	expect_clean
	h5 profiling_data.h5 "ranks() == list(range($1))" "metadata('mpi_size') == $1" \
		"tags(0) == ['MPI_Allreduce', 'MPI_Comm_rank', 'MPI_Comm_size', 'MPI_Finalize', 'MPI_Init', 'MPI_Sendrecv']" \
		"[calls('MPI_Comm_rank', r) for r in range($1)] == [21 + r for r in range($1)]" \
		"[calls('MPI_Sendrecv', r) for r in range($1)] == [20] * $1" \
		"[rows('MPI_Sendrecv', r) for r in range($1)] == [20] * $1" \
		"[calls('MPI_Allreduce', r) for r in range($1)] == [1] * $1" \
		"[calls('MPI_Init', r) for r in range($1)] == [1] * $1" \
		"[calls('MPI_Finalize', r) for r in range($1)] == [1] * $1" \
		"len(set(rank_attr('pid', r) for r in range($1))) == $1" \
		"list(file.attrs['missing_ranks']) == []" \
		"not file.get('rank0', getlink=True).__class__.__name__.startswith('External')"
	files=$(find . -maxdepth 1 -name '*.h5' | wc -l)
	[ "$files" = 1 ] || fail "$files files instead of one: $(echo ./*.h5)"
}
